/**
 * Approving a device that shows a code. Whoever sends somebody a code wants an approval of this page, so it takes some
 * effort on purpose: the code is typed and never filled in, and what asks for a key is shown before the decision.
 */

import { approveGrant, denyGrant } from '../../../auth/grants/decide.ts'
import { type GrantInfo, lookUpGrant } from '../../../auth/grants/look-up.ts'
import type { AccountRefusal } from '../../../auth/outcome.ts'
import type { SignedIn } from '../../../auth/sessions/session-claims.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { InfoQuery } from '../../accounts/device-authorization/schemas.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { html } from '../../http/html.ts'
import { checkForm, emptyForm, type FormState, formFault, refusalSentence } from './form.ts'
import { createFormTokens } from './form-token.ts'
import { field, form } from './html/fields.ts'
import { grantView } from './html/grant-view.ts'
import { accountPage, type FormFields, type Page, type PageAnswer, type PageRequest } from './page.ts'

type Visit = PageRequest<SignedIn>

export function devicePage({ accounts }: AccountService, formSecret: string): Page {
  const tokens = createFormTokens(formSecret, accounts.nowMs)

  /** Binds the request to this session: from now on nobody else can decide about it. */
  async function lookUp(visit: Visit, fields: FormFields): Promise<PageAnswer> {
    const checked = checkForm(InfoQuery, fields)
    if (!checked.ok) return askView(422, checked.state)
    const { visitor: signedIn, client } = visit
    const found = await lookUpGrant(accounts, checked.value.user_code, { signedIn, client })
    if (!found.ok) return refuse(fields, found)
    const grant = found.value
    return grant.status === 'pending' ? decideView(visit, grant) : doneView(grant.clientName, grant.status)
  }

  async function decide(visit: Visit, fields: FormFields): Promise<PageAnswer> {
    const { visitor: signedIn, client } = visit
    const { user_code: code = '', client_name: name = '', decision } = fields
    // A form that was shown to somebody else, or long ago.
    if (!tokens.isGood(signedIn, fields['token'])) return askView(200, emptyForm)
    const viewer = { signedIn, client }
    if (decision !== 'approve') {
      const denied = await denyGrant(accounts, code, viewer)
      return denied.ok ? doneView(name, 'denied') : refuse({}, denied)
    }
    const approved = await approveGrant(accounts, code, viewer)
    return approved.ok ? doneView(approved.value.clientName, 'approved') : refuse({}, approved)
  }

  function decideView({ visitor }: Visit, grant: GrantInfo): PageAnswer {
    const main = grantView(grant, { token: tokens.make(visitor), nowMs: accounts.nowMs() })
    return { kind: 'page', status: 200, title: 'Approve this device?', main }
  }

  return accountPage({
    path: '/device',
    show: async () => askView(200, emptyForm),
    submit: (visit, fields) => (fields['form'] === 'decide' ? decide(visit, fields) : lookUp(visit, fields)),
  })
}

function refuse(fields: FormFields, refusal: AccountRefusal): PageAnswer {
  const { code, retryAfterSeconds } = refusal
  const state = formFault(fields, 'user_code', refusalSentence(refusal))
  return {
    ...askView(errors[code].status, state),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
}

function askView(status: number, state: FormState): PageAnswer {
  const fields = html`<div class="code">${field('look-up', state, {
    name: 'user_code',
    label: 'Code',
    autocomplete: 'off',
    isFirst: true,
    lengthMax: 40,
    hint: 'The eight letters that the device shows.',
  })}</div>`
  const main = html`<p class="lead">A device or a program that shows a code asks for an API key of your account. Enter the code to see what
asks, then approve or deny it.</p>
<p class="warning"><strong>Did you get a code from another person?</strong> Do not enter it. It would give them access to your account.</p>
${form({ name: 'look-up', action: 'device', state, fields, submit: 'Continue' })}
<p class="more">A sensor that sends readings has a name and a password instead. Administrators add it in
<a href="admin">Admin, Devices</a>.</p>
`
  return { kind: 'page', status, title: 'Connect a device', main }
}

function doneView(name: string, status: 'approved' | 'denied'): PageAnswer {
  const what = status === 'approved' ? 'has an API key with the permission to read' : 'has no API key'
  const main = html`<p class="lead">“${name}” ${what}.</p>
<p class="more">${status === 'approved' ? html`You can revoke the key in <a href="account">your account</a>.` : html`<a href="device">Enter another code</a>`}</p>
`
  return { kind: 'page', status: 200, title: status === 'approved' ? 'Approved' : 'Denied', main }
}
