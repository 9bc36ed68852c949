/**
 * Approves a device that shows a code. An attacker who sends a code needs an approval of this page. So the code has to
 * be typed and is never filled in, and the requesting device is shown before the decision.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { approveGrant, denyGrant, type GrantInfo, lookUpGrant } from '../../../auth/grants/decide.ts'
import type { AccountRefusal } from '../../../auth/outcome.ts'
import type { SignedIn } from '../../../auth/sessions/session-codec.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { InfoQuery } from '../../accounts/device-authorization/device-authorization.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { type Html, html } from '../../http/html.ts'
import { checkForm, emptyForm, type FormState, formFault, refusalSentence } from './form.ts'
import { field, form } from './html/fields.ts'
import { accountPage, type FormFields, type Page, type PageAnswer, type PageRequest } from './page.ts'

type Visit = PageRequest<SignedIn>

export function devicePage({ accounts }: AccountService, formSecret: string): Page {
  const tokens = createFormTokens(formSecret, accounts.nowMs)

  /** Binds the request to this session, which alone can decide about it from then on. */
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
    // The form was shown to another account, or too long ago.
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

/** Shows the requesting device and the decision. */
function grantView(grant: GrantInfo, { token, nowMs }: { token: string; nowMs: number }): Html {
  const { userCode, clientName, address, createdMs } = grant
  return html`<section class="card" aria-label="The device">
<dl>
<dt>Name it gives</dt><dd>“${clientName}”</dd>
<dt>Address</dt><dd>${address}</dd>
<dt>OperationInput</dt><dd>${ageOf(nowMs - createdMs)} ago</dd>
<dt>Code</dt><dd><code>${userCode}</code></dd>
<dt>Receives</dt><dd>an API key with the permission to read, until you revoke it</dd>
</dl>
<p class="warning">A device can give any name. Approve it only if it is yours and shows this code now.
<strong>Somebody sent you the code? Deny it.</strong></p>
<form method="post" action="device">
<input type="hidden" name="form" value="decide">
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="client_name" value="${clientName}">
<input type="hidden" name="token" value="${token}">
<p class="buttons"><button class="button danger" name="decision" value="deny">Deny</button>
<button class="button strong" name="decision" value="approve">Approve</button></p>
</form>
</section>
`
}

function ageOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  if (minutes === 0) return 'less than a minute'
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

interface FormTokens {
  make(visitor: SignedIn): string
  isGood(visitor: SignedIn, token: string | undefined): boolean
}

/** Longer than a request stays open. */
const lifetimeMs = 3_600_000

/** A token has its expiry time and the HMAC of that time and the visitor. It is stateless, so it outlives a restart. */
export function createFormTokens(secret: string, nowMs: () => number): FormTokens {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'barograph form tokens', 32))
  const digest = ({ sid, account }: SignedIn, endsMs: string) =>
    createHmac('sha256', key)
      .update(`${sid === undefined ? `account ${account.id}` : `session ${sid}`} ${endsMs}`)
      .digest()
  return {
    make(visitor) {
      const endsMs = String(nowMs() + lifetimeMs)
      return `${endsMs}.${digest(visitor, endsMs).toString('base64url')}`
    },
    isGood(visitor, token = '') {
      const [endsMs = '', sentText = ''] = token.split('.', 2)
      const sent = Buffer.from(sentText, 'base64url')
      const expected = digest(visitor, endsMs)
      return sent.length === expected.length && timingSafeEqual(sent, expected) && nowMs() < Number(endsMs)
    },
  }
}
