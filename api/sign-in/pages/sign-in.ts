/** Signs in by e-mail and password. */

import type { Words } from '../../../analytics/findings/words.ts'
import { authenticate } from '../../../auth/accounts/sign-in.ts'
import type { AccountErrorCode } from '../../../auth/outcome.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { LoginCredentials } from '../../accounts/schemas.ts'
import { html } from '../../http/html.ts'
import { type HostError, hostErrors } from '../auth-host/auth-js.ts'
import { checkForm, emptyForm, type FormState, formAlert, refusalSentence } from './form.ts'
import { field, form, notice } from './html/fields.ts'
import { type Page, type PageAnswer, returnAddress, signIn } from './page.ts'

/** Shown once by the page that led here. */
const noticesIn = ({ t }: Words): ReadonlyMap<string, string> =>
  new Map([
    ['reset', t('Your new password is set. Please sign in with it.')],
    ['signed-out', t('You are signed out.')],
    ['deleted', t('Your account is deleted.')],
  ])

/** Maps Auth.js codes and the service's codes of the Auth.js host to errors. */
const hostCodes: ReadonlyMap<string, AccountErrorCode> = new Map([
  ['account-inactive', 'ACCOUNT_INACTIVE'],
  ['credentials', 'CREDENTIALS_WRONG'],
  ['credentials-wrong', 'CREDENTIALS_WRONG'],
  ['too-many-requests', 'TOO_MANY_REQUESTS'],
])

const hostSentencesIn = ({ t }: Words): Record<HostError, string> => ({
  Configuration: t('The service could not sign you in. Please try again later.'),
  AccessDenied: t('This account may not sign in here.'),
  Verification: t('This link is not valid any more.'),
  MissingCSRF: t('Please send the form again.'),
  SessionRequired: t('Please sign in first.'),
})

function hostAlert(error: string, code: string | undefined, words: Words): string {
  const refusal = hostCodes.get(code ?? '')
  if (refusal !== undefined) return refusalSentence({ ok: false, code: refusal }, words)
  const known = hostErrors.find(name => name === error)
  return known === undefined ? words.t('Signing in was not possible.') : hostSentencesIn(words)[known]
}

export function signInPage(service: AccountService, publicUrl: () => string): Page {
  const mayAnybodySignUp = service.settings.signUp === 'open'
  return {
    path: '/sign-in',
    async show({ argument, visitor, words }) {
      const callbackUrl = argument('callbackUrl')
      if (visitor !== undefined) return { kind: 'redirect', to: returnAddress(callbackUrl, publicUrl()) }
      const error = argument('error')
      const alert = error === undefined ? undefined : hostAlert(error, argument('code'), words)
      const state = alert === undefined ? emptyForm : { ...emptyForm, alert }
      const said = noticesIn(words).get(argument('done') ?? '')
      return view({ mayAnybodySignUp, status: 200, state, callbackUrl, said, words })
    },
    async submit({ client, words }, fields) {
      const { callbackUrl } = fields
      const checked = checkForm(words, LoginCredentials, fields)
      if (!checked.ok) return view({ mayAnybodySignUp, status: 422, state: checked.state, callbackUrl, words })
      const known = await authenticate(service.accounts, checked.value, client)
      if (known.ok) return await signIn(service, known.value, client, returnAddress(callbackUrl, publicUrl()))
      const { code, retryAfterSeconds } = known
      const state = formAlert(fields, refusalSentence(known, words))
      return view({ mayAnybodySignUp, status: errors[code].status, state, callbackUrl, retryAfterSeconds, words })
    },
  }
}

interface View {
  words: Words
  mayAnybodySignUp: boolean
  status: number
  state: FormState
  callbackUrl: string | undefined
  said?: string | undefined
  retryAfterSeconds?: number | undefined
}

function view({ mayAnybodySignUp, status, state, callbackUrl, said, retryAfterSeconds, words }: View): PageAnswer {
  const { t } = words
  const fields = [
    field(words, 'sign-in', state, {
      name: 'email',
      label: t('E-mail address'),
      type: 'email',
      autocomplete: 'username',
      isFirst: true,
    }),
    field(words, 'sign-in', state, {
      name: 'password',
      label: t('Password'),
      type: 'password',
      autocomplete: 'current-password',
    }),
  ]
  const hidden = callbackUrl === undefined ? {} : { callbackUrl }
  const main = html`${notice(said)}${form({ name: 'sign-in', action: 'sign-in', state, hidden, fields, submit: t('Sign in') })}
<p class="more"><a href="reset">${t('Forgot your password?')}</a>${mayAnybodySignUp ? html` ${t('No account yet?')} <a href="sign-up">${t('Sign up')}</a>` : undefined}</p>
`
  return { kind: 'page', status, title: t('Sign in'), main, retryAfterSeconds }
}
