/** Resets a forgotten password: a mailed link opens the page that sets a new one. */

import type { Words } from '../../../analytics/findings/words.ts'
import { resetPassword } from '../../../auth/accounts/password-changes.ts'
import { requestToken } from '../../../auth/accounts/verification.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { limit, mailRequestLimit, redeemLimit } from '../../accounts/limits.ts'
import { PasswordResetComplete, PasswordResetRequest } from '../../accounts/schemas.ts'
import { html } from '../../http/html.ts'
import { checkForm, emptyForm, type FormState, formAlert, refusalSentence } from './form.ts'
import { field, form, mailSentence, notice, passwordHint } from './html/fields.ts'
import type { FormFields, Page, PageAnswer, PageRequest } from './page.ts'

export function resetPage(service: AccountService): Page {
  const { accounts } = service

  async function set({ client, words }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const { token = '' } = fields
    const checked = checkForm(words, PasswordResetComplete, fields)
    if (!checked.ok)
      return 'token' in checked.state.faults ? badToken(words) : setView(words, 422, checked.state, token)
    const refusal = await limit(service, redeemLimit, client)
    if (refusal !== undefined) {
      return setView(words, 429, formAlert({}, refusalSentence(refusal, words)), token, refusal.retryAfterSeconds)
    }
    const reset = await resetPassword(accounts, checked.value.token, checked.value.new_password, client)
    return reset.ok ? { kind: 'redirect', to: 'sign-in?done=reset' } : badToken(words)
  }

  async function ask({ client, words }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const checked = checkForm(words, PasswordResetRequest, fields)
    if (!checked.ok) return askView(words, 422, checked.state)
    const refusal = await limit(service, mailRequestLimit(service, 'password-reset'), client)
    if (refusal !== undefined) {
      return askView(words, 429, formAlert(fields, refusalSentence(refusal, words)), refusal.retryAfterSeconds)
    }
    await requestToken(accounts, 'password-reset', checked.value.email)
    return { kind: 'redirect', to: 'reset?done=sent' }
  }

  return {
    path: '/reset',
    async show({ argument, words }) {
      const token = argument('token')
      if (token !== undefined) return setView(words, 200, emptyForm, token)
      return argument('done') === 'sent' ? sentView(service, words) : askView(words, 200, emptyForm)
    },
    submit: (request, fields) => (fields['form'] === 'set' ? set(request, fields) : ask(request, fields)),
  }
}

function setView(
  words: Words,
  status: number,
  state: FormState,
  token: string,
  retryAfterSeconds?: number,
): PageAnswer {
  const { t } = words
  const fields = field(words, 'set', state, {
    name: 'new_password',
    label: t('New password'),
    type: 'password',
    autocomplete: 'new-password',
    hint: passwordHint(words),
    isFirst: true,
  })
  const main = html`<p class="lead">${t('This ends all your sessions; then you sign in with the new password.')}</p>
${form({ name: 'set', action: 'reset', state, hidden: { token }, fields, submit: t('Set the password') })}`
  return { kind: 'page', status, title: t('Set a new password'), main, retryAfterSeconds }
}

function askView(words: Words, status: number, state: FormState, retryAfterSeconds?: number): PageAnswer {
  const { t } = words
  const fields = field(words, 'ask', state, {
    name: 'email',
    label: t('E-mail address'),
    type: 'email',
    autocomplete: 'username',
    isFirst: true,
  })
  const main = html`<p class="lead">${t('You get a mail with a link that sets a new password.')}</p>
${form({ name: 'ask', action: 'reset', state, fields, submit: t('Send the mail') })}
<p class="more"><a href="sign-in">${t('Back to signing in')}</a></p>
`
  return { kind: 'page', status, title: t('Forgot your password?'), main, retryAfterSeconds }
}

function badToken(words: Words): PageAnswer {
  return askView(words, 400, formAlert({}, refusalSentence({ ok: false, code: 'TOKEN_INVALID' }, words)))
}

function sentView({ settings }: AccountService, words: Words): PageAnswer {
  const { t } = words
  const text = t('If the address belongs to an account, a mail with a link is on its way. It is good for one hour.')
  const main = html`${notice(mailSentence(text, settings, words))}`
  return { kind: 'page', status: 200, title: t('Look at your mail'), main }
}
