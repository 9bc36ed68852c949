/** Signing in, by e-mail and password. */

import { authenticate } from '../../auth/accounts/sign-in.ts'
import type { AccountErrorCode } from '../../auth/outcome.ts'
import type { AccountService } from '../accounts/account-service.ts'
import { errors } from '../accounts/kit/errors.ts'
import { LoginCredentials } from '../accounts/schemas.ts'
import { html } from '../http/html.ts'
import { checkForm, emptyForm, type FormState, formAlert, refusalSentence } from './form.ts'
import { field, form, notice } from './html/fields.ts'
import type { Page, PageAnswer } from './page.ts'
import { returnAddress, signIn } from './visits.ts'

/** Said once, by the page that has led here. */
const notices: ReadonlyMap<string, string> = new Map([
  ['reset', 'Your new password is set. Please sign in with it.'],
  ['signed-out', 'You are signed out.'],
  ['deleted', 'Your account is deleted.'],
])

/** The Auth.js host sends its errors here, by a code of its own and one of ours. */
const hostCodes: ReadonlyMap<string, AccountErrorCode> = new Map([
  ['account-inactive', 'ACCOUNT_INACTIVE'],
  ['credentials', 'CREDENTIALS_WRONG'],
  ['credentials-wrong', 'CREDENTIALS_WRONG'],
  ['too-many-requests', 'TOO_MANY_REQUESTS'],
])

function hostAlert(error: string, code: string | undefined): string {
  if (error === 'MissingCSRF') return 'Please send the form again.'
  const refusal = hostCodes.get(code ?? '')
  return refusal === undefined ? 'Signing in was not possible.' : refusalSentence({ ok: false, code: refusal })
}

export function signInPage(service: AccountService, publicUrl: () => string): Page {
  return {
    path: '/sign-in',
    async show({ argument, visitor }) {
      const callbackUrl = argument('callbackUrl')
      if (visitor !== undefined) return { kind: 'redirect', to: returnAddress(callbackUrl, publicUrl()) }
      const error = argument('error')
      const alert = error === undefined ? undefined : hostAlert(error, argument('code'))
      const state = alert === undefined ? emptyForm : { ...emptyForm, alert }
      return view({ status: 200, state, callbackUrl, said: notices.get(argument('done') ?? '') })
    },
    async submit({ client }, fields) {
      const { callbackUrl } = fields
      const checked = checkForm(LoginCredentials, fields)
      if (!checked.ok) return view({ status: 422, state: checked.state, callbackUrl })
      const known = await authenticate(service.accounts, checked.value, client)
      if (known.ok) return await signIn(service, known.value, client, returnAddress(callbackUrl, publicUrl()))
      const { code, retryAfterSeconds } = known
      const state = formAlert(fields, refusalSentence(known))
      return view({ status: errors[code].status, state, callbackUrl, retryAfterSeconds })
    },
  }
}

interface View {
  status: number
  state: FormState
  callbackUrl: string | undefined
  said?: string | undefined
  retryAfterSeconds?: number | undefined
}

function view({ status, state, callbackUrl, said, retryAfterSeconds }: View): PageAnswer {
  const fields = [
    field('sign-in', state, {
      ...{ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', isFirst: true },
    }),
    field('sign-in', state, {
      name: 'password',
      label: 'Password',
      type: 'password',
      autocomplete: 'current-password',
    }),
  ]
  const hidden = callbackUrl === undefined ? {} : { callbackUrl }
  const main = html`${notice(said)}${form({ name: 'sign-in', action: 'sign-in', state, hidden, fields, submit: 'Sign in' })}
<p class="more"><a href="reset">Forgot your password?</a> No account yet? <a href="sign-up">Sign up</a></p>
`
  return { kind: 'page', status, title: 'Sign in', main, retryAfterSeconds }
}
