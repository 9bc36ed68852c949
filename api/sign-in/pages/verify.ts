/** Verifies an e-mail address: opening the link changes nothing, the button confirms. */

import type { Words } from '../../../analytics/findings/words.ts'
import { requestToken, verifyEmail } from '../../../auth/accounts/verification.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { limit, mailRequestLimit, redeemLimit } from '../../accounts/limits.ts'
import { EmailVerificationRequest, TokenVerificationRequest } from '../../accounts/schemas.ts'
import { html } from '../../http/html.ts'
import { checkForm, emptyForm, type FormState, formAlert, refusalSentence } from './form.ts'
import { field, form, mailSentence, notice } from './html/fields.ts'
import type { FormFields, Page, PageAnswer, PageRequest } from './page.ts'

export function verifyPage(service: AccountService): Page {
  const { accounts } = service

  async function verify({ client, words }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const checked = checkForm(words, TokenVerificationRequest, fields)
    if (!checked.ok)
      return askView(words, 400, formAlert({}, refusalSentence({ ok: false, code: 'TOKEN_INVALID' }, words)))
    const refusal = await limit(service, redeemLimit, client)
    if (refusal !== undefined)
      return askView(words, 429, formAlert({}, refusalSentence(refusal, words)), refusal.retryAfterSeconds)
    const verified = await verifyEmail(accounts, checked.value.token)
    return verified.ok
      ? { kind: 'redirect', to: 'verify?done=verified' }
      : askView(words, 400, formAlert({}, refusalSentence(verified, words)))
  }

  async function ask({ client, words }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const checked = checkForm(words, EmailVerificationRequest, fields)
    if (!checked.ok) return askView(words, 422, checked.state)
    const refusal = await limit(service, mailRequestLimit(service, 'verification'), client)
    if (refusal !== undefined) {
      return askView(words, 429, formAlert(fields, refusalSentence(refusal, words)), refusal.retryAfterSeconds)
    }
    await requestToken(accounts, 'verification', checked.value.email)
    return { kind: 'redirect', to: 'verify?done=sent' }
  }

  return {
    path: '/verify',
    async show({ argument, words }) {
      const token = argument('token')
      if (token !== undefined) return confirmView(token, words)
      return answerOf(argument('done'), service, words) ?? askView(words, 200, emptyForm)
    },
    submit: (request, fields) => (fields['form'] === 'confirm' ? verify(request, fields) : ask(request, fields)),
  }
}

function confirmView(token: string, { t }: Words): PageAnswer {
  const confirm = { name: 'confirm', action: 'verify', state: emptyForm, hidden: { token }, fields: [] }
  const main = html`<p class="lead">${t('Is the address that this mail came to yours, and the account as well?')}</p>
${form({ ...confirm, submit: t('Yes, confirm it'), isCard: false })}`
  return { kind: 'page', status: 200, title: t('Confirm your address'), main }
}

function askView(words: Words, status: number, state: FormState, retryAfterSeconds?: number): PageAnswer {
  const { t } = words
  const fields = field(words, 'ask', state, {
    name: 'email',
    label: t('E-mail address'),
    type: 'email',
    autocomplete: 'email',
  })
  const main = html`<p class="lead">${t('Have the mail with the link sent again.')}</p>
${form({ name: 'ask', action: 'verify', state, fields, submit: t('Send the mail') })}`
  return { kind: 'page', status, title: t('Confirm your address'), main, retryAfterSeconds }
}

function answerOf(done: string | undefined, { settings }: AccountService, words: Words): PageAnswer | undefined {
  const { t } = words
  if (done === 'verified') {
    const main = html`<p class="more"><a href="account">${t('To your account')}</a></p>\n`
    return { kind: 'page', status: 200, title: t('Your address is confirmed'), main }
  }
  if (done !== 'sent') return undefined
  const text = t('If the address belongs to an account and is not confirmed yet, a mail with a link is on its way.')
  const main = html`${notice(mailSentence(text, settings, words))}`
  return { kind: 'page', status: 200, title: t('Look at your mail'), main }
}
