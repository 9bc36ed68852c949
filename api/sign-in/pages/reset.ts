/** Resets a forgotten password: a mailed link opens the page that sets a new one. */

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

  async function set({ client }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const { token = '' } = fields
    const checked = checkForm(PasswordResetComplete, fields)
    if (!checked.ok) return 'token' in checked.state.faults ? badToken : setView(422, checked.state, token)
    const refusal = await limit(service, redeemLimit, client)
    if (refusal !== undefined) {
      return setView(429, formAlert({}, refusalSentence(refusal)), token, refusal.retryAfterSeconds)
    }
    const reset = await resetPassword(accounts, checked.value.token, checked.value.new_password, client)
    return reset.ok ? { kind: 'redirect', to: 'sign-in?done=reset' } : badToken
  }

  async function ask({ client }: PageRequest, fields: FormFields): Promise<PageAnswer> {
    const checked = checkForm(PasswordResetRequest, fields)
    if (!checked.ok) return askView(422, checked.state)
    const refusal = await limit(service, mailRequestLimit(service, 'password-reset'), client)
    if (refusal !== undefined) {
      return askView(429, formAlert(fields, refusalSentence(refusal)), refusal.retryAfterSeconds)
    }
    await requestToken(accounts, 'password-reset', checked.value.email)
    return { kind: 'redirect', to: 'reset?done=sent' }
  }

  return {
    path: '/reset',
    async show({ argument }) {
      const token = argument('token')
      if (token !== undefined) return setView(200, emptyForm, token)
      return argument('done') === 'sent' ? sentView(service) : askView(200, emptyForm)
    },
    submit: (request, fields) => (fields['form'] === 'set' ? set(request, fields) : ask(request, fields)),
  }
}

function setView(status: number, state: FormState, token: string, retryAfterSeconds?: number): PageAnswer {
  const fields = field('set', state, {
    name: 'new_password',
    label: 'New password',
    type: 'password',
    autocomplete: 'new-password',
    hint: passwordHint,
    isFirst: true,
  })
  const main = html`<p class="lead">This ends all your sessions; then you sign in with the new password.</p>
${form({ name: 'set', action: 'reset', state, hidden: { token }, fields, submit: 'Set the password' })}`
  return { kind: 'page', status, title: 'Set a new password', main, retryAfterSeconds }
}

function askView(status: number, state: FormState, retryAfterSeconds?: number): PageAnswer {
  const fields = field('ask', state, {
    name: 'email',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'username',
    isFirst: true,
  })
  const main = html`<p class="lead">You get a mail with a link that sets a new password.</p>
${form({ name: 'ask', action: 'reset', state, fields, submit: 'Send the mail' })}
<p class="more"><a href="sign-in">Back to signing in</a></p>
`
  return { kind: 'page', status, title: 'Forgot your password?', main, retryAfterSeconds }
}

const badToken: PageAnswer = askView(400, formAlert({}, refusalSentence({ ok: false, code: 'TOKEN_INVALID' })))

const sentText = 'If the address belongs to an account, a mail with a link is on its way. It is good for one hour.'

function sentView({ settings }: AccountService): PageAnswer {
  const main = html`${notice(mailSentence(sentText, settings))}`
  return { kind: 'page', status: 200, title: 'Look at your mail', main }
}
