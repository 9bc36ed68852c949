/** Signs up a new account, by an invitation's link or without one, according to SIGN_UP. */

import type { Words } from '../../../analytics/findings/words.ts'
import { peekInvitation } from '../../../auth/accounts/invitation.ts'
import { signUp } from '../../../auth/accounts/sign-up.ts'
import type { AccountRefusal } from '../../../auth/outcome.ts'
import { type AccountService, signUpRulesOf } from '../../accounts/account-service.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { limit, redeemLimit } from '../../accounts/limits.ts'
import { UserCreate } from '../../accounts/schemas.ts'
import { type Html, html } from '../../http/html.ts'
import { checkForm, emptyForm, type FormState, formAlert, formFault, refusalSentence } from './form.ts'
import { form, newAccountFields } from './html/fields.ts'
import { type FormFields, homePage, type Page, type PageAnswer, type PageRequest, signIn } from './page.ts'

export function signUpPage(service: AccountService): Page {
  const { accounts, settings } = service

  /** Opening the link changes nothing. */
  async function showInvited({ client, words }: PageRequest, token: string): Promise<PageAnswer> {
    const refusal = await limit(service, redeemLimit, client)
    if (refusal !== undefined) return refusedView(refusal, words)
    const invited = await peekInvitation(accounts.pool, token, accounts.nowMs())
    if (invited === undefined) return badLink(words)
    return view(words, 200, { ...emptyForm, values: { email: invited.email } }, token)
  }

  return {
    path: '/sign-up',
    async show(request) {
      const { words } = request
      if (request.visitor !== undefined) return { kind: 'redirect', to: homePage }
      if (settings.signUp === 'off') return refusedView({ ok: false, code: 'REGISTRATION_CLOSED' }, words)
      const token = request.argument('token')
      if (token !== undefined) return await showInvited(request, token)
      return settings.signUp === 'open'
        ? view(words, 200, emptyForm)
        : refusedView({ ok: false, code: 'REGISTRATION_INVITED' }, words)
    },
    async submit({ client, words }, fields) {
      const checked = checkForm(words, UserCreate, fields)
      const token = fields['token'] === '' ? undefined : fields['token']
      if (!checked.ok) return 'token' in checked.state.faults ? badLink(words) : view(words, 422, checked.state, token)
      const { email, password, name = null } = checked.value
      const registered = await signUp(accounts, signUpRulesOf(service), { email, password, name, token }, client)
      return registered.ok
        ? await signIn(service, registered.value, client, 'account?done=signed-up')
        : refusalView(registered, fields, token, words)
    },
  }
}

function refusalView(refusal: AccountRefusal, fields: FormFields, token: string | undefined, words: Words): PageAnswer {
  const { code, retryAfterSeconds } = refusal
  if (code === 'TOKEN_INVALID') return badLink(words)
  if (code === 'REGISTRATION_INVITED' || code === 'REGISTRATION_CLOSED') return refusedView(refusal, words)
  const said = refusalSentence(refusal, words)
  const state = code === 'TOO_MANY_REQUESTS' ? formAlert(fields, said) : formFault(fields, 'email', said)
  return view(words, errors[code].status, state, token, retryAfterSeconds)
}

function view(words: Words, status: number, state: FormState, token?: string, retryAfterSeconds?: number): PageAnswer {
  const { t } = words
  const fields = newAccountFields(words, 'sign-up', state, { isEmailFixed: token !== undefined })
  const hidden = token === undefined ? {} : { token }
  const main = html`${form({ name: 'sign-up', action: 'sign-up', state, hidden, fields, submit: t('Sign up') })}
${toSignIn(words)}`
  return { kind: 'page', status, title: t('Sign up'), main, retryAfterSeconds }
}

function toSignIn({ t }: Words): Html {
  return html`<p class="more">${t('Have an account already?')} <a href="sign-in">${t('Sign in')}</a></p>\n`
}

/** Replaces the form. */
function refusedView(refusal: AccountRefusal, words: Words): PageAnswer {
  const { t } = words
  const main = html`<p class="lead">${refusalSentence(refusal, words)}</p>\n${toSignIn(words)}`
  const { status } = errors[refusal.code]
  return { kind: 'page', status, title: t('Sign up'), main, retryAfterSeconds: refusal.retryAfterSeconds }
}

/** Used, revoked and expired links get the same answer, as do links for another address. */
function badLink(words: Words): PageAnswer {
  const { t } = words
  const said = refusalSentence({ ok: false, code: 'TOKEN_INVALID' }, words)
  const main = html`<p class="lead">${said} ${t('Ask for another invitation.')}</p>
${toSignIn(words)}`
  return { kind: 'page', status: 400, title: t('This link is not valid'), main }
}
