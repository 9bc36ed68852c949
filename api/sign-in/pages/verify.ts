/** Verifies an e-mail address: opening the link changes nothing, the button confirms. */

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

  async function verify({ client }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const checked = checkForm(TokenVerificationRequest, fields)
    if (!checked.ok) return askView(400, formAlert({}, refusalSentence({ ok: false, code: 'TOKEN_INVALID' })))
    const refusal = await limit(service, redeemLimit, client)
    if (refusal !== undefined) return askView(429, formAlert({}, refusalSentence(refusal)), refusal.retryAfterSeconds)
    const verified = await verifyEmail(accounts, checked.value.token)
    return verified.ok
      ? { kind: 'redirect', to: 'verify?done=verified' }
      : askView(400, formAlert({}, refusalSentence(verified)))
  }

  async function ask({ client }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const checked = checkForm(EmailVerificationRequest, fields)
    if (!checked.ok) return askView(422, checked.state)
    const refusal = await limit(service, mailRequestLimit(service, 'verification'), client)
    if (refusal !== undefined) {
      return askView(429, formAlert(fields, refusalSentence(refusal)), refusal.retryAfterSeconds)
    }
    await requestToken(accounts, 'verification', checked.value.email)
    return { kind: 'redirect', to: 'verify?done=sent' }
  }

  return {
    path: '/verify',
    async show({ argument }) {
      const token = argument('token')
      if (token !== undefined) return confirmView(token)
      return answerOf(argument('done'), service) ?? askView(200, emptyForm)
    },
    submit: (request, fields) => (fields['form'] === 'confirm' ? verify(request, fields) : ask(request, fields)),
  }
}

function confirmView(token: string): PageAnswer {
  const confirm = { name: 'confirm', action: 'verify', state: emptyForm, hidden: { token }, fields: [] }
  const main = html`<p class="lead">Is the address that this mail came to yours, and the account as well?</p>
${form({ ...confirm, submit: 'Yes, confirm it', isCard: false })}`
  return { kind: 'page', status: 200, title: 'Confirm your address', main }
}

function askView(status: number, state: FormState, retryAfterSeconds?: number): PageAnswer {
  const fields = field('ask', state, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'email' })
  const main = html`<p class="lead">Have the mail with the link sent again.</p>
${form({ name: 'ask', action: 'verify', state, fields, submit: 'Send the mail' })}`
  return { kind: 'page', status, title: 'Confirm your address', main, retryAfterSeconds }
}

const sentText = 'If the address belongs to an account and is not confirmed yet, a mail with a link is on its way.'

function answerOf(done: string | undefined, { settings }: AccountService): PageAnswer | undefined {
  if (done === 'verified') {
    const main = html`<p class="more"><a href="account">To your account</a></p>\n`
    return { kind: 'page', status: 200, title: 'Your address is confirmed', main }
  }
  if (done !== 'sent') return undefined
  const main = html`${notice(mailSentence(sentText, settings))}`
  return { kind: 'page', status: 200, title: 'Look at your mail', main }
}
