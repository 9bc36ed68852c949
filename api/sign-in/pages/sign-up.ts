/** Signs up a new account, by an invitation's link or without one, according to SIGN_UP. */

import { peekInvitation } from '../../../auth/accounts/invitation.ts'
import { signUp } from '../../../auth/accounts/sign-up.ts'
import type { AccountRefusal } from '../../../auth/outcome.ts'
import { type AccountService, signUpRulesOf } from '../../accounts/account-service.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { limit, redeemLimit } from '../../accounts/limits.ts'
import { UserCreate } from '../../accounts/schemas.ts'
import { html } from '../../http/html.ts'
import { checkForm, emptyForm, type FormState, formAlert, formFault, refusalSentence } from './form.ts'
import { form, newAccountFields } from './html/fields.ts'
import { type FormFields, homePage, type Page, type PageAnswer, type PageRequest, signIn } from './page.ts'

export function signUpPage(service: AccountService): Page {
  const { accounts, settings } = service

  /** Opening the link changes nothing. */
  async function showInvited({ client }: PageRequest, token: string): Promise<PageAnswer> {
    const refusal = await limit(service, redeemLimit, client)
    if (refusal !== undefined) return refusedView(refusal)
    const invited = await peekInvitation(accounts.pool, token, accounts.nowMs())
    if (invited === undefined) return badLink
    return view(200, { ...emptyForm, values: { email: invited.email } }, token)
  }

  return {
    path: '/sign-up',
    async show(request) {
      if (request.visitor !== undefined) return { kind: 'redirect', to: homePage }
      if (settings.signUp === 'off') return refusedView({ ok: false, code: 'REGISTRATION_CLOSED' })
      const token = request.argument('token')
      if (token !== undefined) return await showInvited(request, token)
      return settings.signUp === 'open'
        ? view(200, emptyForm)
        : refusedView({ ok: false, code: 'REGISTRATION_INVITED' })
    },
    async submit({ client }, fields) {
      const checked = checkForm(UserCreate, fields)
      const token = fields['token'] === '' ? undefined : fields['token']
      if (!checked.ok) return 'token' in checked.state.faults ? badLink : view(422, checked.state, token)
      const { email, password, name = null } = checked.value
      const registered = await signUp(accounts, signUpRulesOf(service), { email, password, name, token }, client)
      return registered.ok
        ? await signIn(service, registered.value, client, 'account?done=signed-up')
        : refusalView(registered, fields, token)
    },
  }
}

function refusalView(refusal: AccountRefusal, fields: FormFields, token: string | undefined): PageAnswer {
  const { code, retryAfterSeconds } = refusal
  if (code === 'TOKEN_INVALID') return badLink
  if (code === 'REGISTRATION_INVITED' || code === 'REGISTRATION_CLOSED') return refusedView(refusal)
  const said = refusalSentence(refusal)
  const state = code === 'TOO_MANY_REQUESTS' ? formAlert(fields, said) : formFault(fields, 'email', said)
  return view(errors[code].status, state, token, retryAfterSeconds)
}

function view(status: number, state: FormState, token?: string, retryAfterSeconds?: number): PageAnswer {
  const fields = newAccountFields('sign-up', state, { isEmailFixed: token !== undefined })
  const hidden = token === undefined ? {} : { token }
  const main = html`${form({ name: 'sign-up', action: 'sign-up', state, hidden, fields, submit: 'Sign up' })}
${toSignIn}`
  return { kind: 'page', status, title: 'Sign up', main, retryAfterSeconds }
}

const toSignIn = html`<p class="more">Have an account already? <a href="sign-in">Sign in</a></p>\n`

/** Replaces the form. */
function refusedView(refusal: AccountRefusal): PageAnswer {
  const main = html`<p class="lead">${refusalSentence(refusal)}</p>\n${toSignIn}`
  const { status } = errors[refusal.code]
  return { kind: 'page', status, title: 'Sign up', main, retryAfterSeconds: refusal.retryAfterSeconds }
}

/** Used, revoked and expired links get the same answer, as do links for another address. */
const badLink: PageAnswer = {
  kind: 'page',
  status: 400,
  title: 'This link is not valid',
  main: html`<p class="lead">${refusalSentence({ ok: false, code: 'TOKEN_INVALID' })} Ask for another invitation.</p>
${toSignIn}`,
}
