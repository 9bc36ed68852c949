/** Creates the operator's account by the link that the service printed at its start. */

import type { Words } from '../../../analytics/findings/words.ts'
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
    async show({ argument, client, words }) {
      const refusal = await limit(service, redeemLimit, client)
      if (refusal !== undefined) return tooMany(refusal, words)
      const token = argument('token') ?? ''
      return (await setup.isOpen(token)) ? view(words, 200, emptyForm, token) : closed(words)
    },
    async submit({ client, words }, fields) {
      const { token = '' } = fields
      const refusal = await limit(service, redeemLimit, client)
      if (refusal !== undefined) return tooMany(refusal, words)
      if (!(await setup.isOpen(token))) return closed(words)
      const checked = checkForm(words, UserCreate, fields)
      if (!checked.ok) return view(words, 422, checked.state, token)
      const { email, password, name = null } = checked.value
      const made = await setup.complete(token, { email, password, name }, client)
      if (made.ok) return await signIn(service, made.value, client, 'account?done=signed-up')
      if (made.code === 'TOKEN_INVALID') return closed(words)
      return made.code === 'EMAIL_TAKEN'
        ? view(words, 409, formFault(fields, 'email', refusalSentence(made, words)), token)
        : view(words, 422, formAlert(fields, refusalSentence(made, words)), token)
    },
  }
}

function view(words: Words, status: number, state: FormState, token: string): PageAnswer {
  const { t } = words
  const fields = newAccountFields(words, 'setup', state)
  const main = html`<p class="lead">${t('Create the operator account. It has full control; there can be only one.')}</p>
${form({ name: 'setup', action: 'setup', state, hidden: { token }, fields, submit: t('Create the account') })}
`
  return { kind: 'page', status, title: t('Set up Barograph'), main }
}

function tooMany(refusal: AccountRefusal, words: Words): PageAnswer {
  const { t } = words
  const { retryAfterSeconds } = refusal
  const main = html`<p class="lead">${refusalSentence(refusal, words)}</p>\n`
  return { kind: 'page', status: 429, title: t('Set up Barograph'), main, retryAfterSeconds }
}

/** Wrong and used tokens get the same answer. */
function closed({ t }: Words): PageAnswer {
  const main = html`<p class="lead">${t('The operator account exists already, or this is not the link in the log of the service.')}</p>
<p class="more"><a href="sign-in">${t('Sign in')}</a></p>
`
  return { kind: 'page', status: 404, title: t('This link is not valid'), main }
}
