/** Signing up: a new account, whose address is confirmed by mail. */

import { register } from '../../auth/accounts/registration.ts'
import type { AccountService } from '../accounts/account-service.ts'
import { errors } from '../accounts/kit/errors.ts'
import { limit, registrationLimit } from '../accounts/limits.ts'
import { UserCreate } from '../accounts/schemas.ts'
import { html } from '../http/html.ts'
import { checkForm, emptyForm, type FormState, formAlert, formFault, refusalSentence } from './form.ts'
import { form } from './html/fields.ts'
import { newAccountFields } from './html/new-account.ts'
import type { Page, PageAnswer } from './page.ts'
import { homePage, signIn } from './visits.ts'

export function signUpPage(service: AccountService): Page {
  return {
    path: '/sign-up',
    show: async ({ visitor }) => (visitor === undefined ? view(200, emptyForm) : { kind: 'redirect', to: homePage }),
    async submit({ client }, fields) {
      const checked = checkForm(UserCreate, fields)
      if (!checked.ok) return view(422, checked.state)
      const refusal = await limit(service, registrationLimit(service), client)
      if (refusal !== undefined) {
        return view(429, formAlert(fields, refusalSentence(refusal)), refusal.retryAfterSeconds)
      }
      const { email, password, name = null } = checked.value
      const registered = await register(service.accounts, { email, password, name })
      if (registered.ok) return await signIn(service, registered.value, client, 'account?done=signed-up')
      return view(errors[registered.code].status, formFault(fields, 'email', refusalSentence(registered)))
    },
  }
}

function view(status: number, state: FormState, retryAfterSeconds?: number): PageAnswer {
  const fields = newAccountFields('sign-up', state)
  const main = html`${form({ name: 'sign-up', action: 'sign-up', state, fields, submit: 'Sign up' })}
<p class="more">Have an account already? <a href="sign-in">Sign in</a></p>
`
  return { kind: 'page', status, title: 'Sign up', main, retryAfterSeconds }
}
