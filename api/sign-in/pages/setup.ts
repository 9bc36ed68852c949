/** Creates the operator's account by the link that the service printed at its start. */

import type { Setup } from '../../../auth/accounts/setup.ts'
import type { AccountRefusal } from '../../../auth/outcome.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { limit, redeemLimit } from '../../accounts/limits.ts'
import { UserCreate } from '../../accounts/schemas.ts'
import { html } from '../../http/html.ts'
import { checkForm, emptyForm, type FormState, formAlert, formFault, refusalSentence } from './form.ts'
import { form, newAccountFields } from './html/fields.ts'
import { type Page, type PageAnswer, signIn } from './page.ts'

export function setupPage(service: AccountService, setup: Setup): Page {
  return {
    path: '/setup',
    async show({ argument, client }) {
      const refusal = await limit(service, redeemLimit, client)
      if (refusal !== undefined) return tooMany(refusal)
      const token = argument('token') ?? ''
      return (await setup.isOpen(token)) ? view(200, emptyForm, token) : closed
    },
    async submit({ client }, fields) {
      const { token = '' } = fields
      const refusal = await limit(service, redeemLimit, client)
      if (refusal !== undefined) return tooMany(refusal)
      if (!(await setup.isOpen(token))) return closed
      const checked = checkForm(UserCreate, fields)
      if (!checked.ok) return view(422, checked.state, token)
      const { email, password, name = null } = checked.value
      const made = await setup.complete(token, { email, password, name }, client)
      if (made.ok) return await signIn(service, made.value, client, 'account?done=signed-up')
      if (made.code === 'TOKEN_INVALID') return closed
      return made.code === 'EMAIL_TAKEN'
        ? view(409, formFault(fields, 'email', refusalSentence(made)), token)
        : view(422, formAlert(fields, refusalSentence(made)), token)
    },
  }
}

function view(status: number, state: FormState, token: string): PageAnswer {
  const fields = newAccountFields('setup', state)
  const main = html`<p class="lead">Create the operator account. It has full control; there can be only one.</p>
${form({ name: 'setup', action: 'setup', state, hidden: { token }, fields, submit: 'Create the account' })}
`
  return { kind: 'page', status, title: 'Set up Barograph', main }
}

function tooMany(refusal: AccountRefusal): PageAnswer {
  const { retryAfterSeconds } = refusal
  const main = html`<p class="lead">${refusalSentence(refusal)}</p>\n`
  return { kind: 'page', status: 429, title: 'Set up Barograph', main, retryAfterSeconds }
}

/** Wrong and used tokens get the same answer. */
const closed: PageAnswer = {
  kind: 'page',
  status: 404,
  title: 'This link is not valid',
  main: html`<p class="lead">The operator account exists already, or this is not the link in the log of the service.</p>
<p class="more"><a href="sign-in">Sign in</a></p>
`,
}
