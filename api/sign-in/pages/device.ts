/**
 * Approves a device that shows a code. An attacker who sends a code needs an approval of this page. So the code has to
 * be typed and is never filled in, and the requesting device is shown before the decision.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Words } from '../../../analytics/findings/words.ts'
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
    const { visitor: signedIn, client, words } = visit
    const checked = checkForm(words, InfoQuery, fields)
    if (!checked.ok) return askView(words, 422, checked.state)
    const found = await lookUpGrant(accounts, checked.value.user_code, { signedIn, client })
    if (!found.ok) return refuse(fields, found, words)
    const grant = found.value
    return grant.status === 'pending' ? decideView(visit, grant) : doneView(grant.clientName, grant.status, words)
  }

  async function decide(visit: Visit, fields: FormFields): Promise<PageAnswer> {
    const { visitor: signedIn, client, words } = visit
    const { user_code: code = '', client_name: name = '', decision } = fields
    // The form was shown to another account, or too long ago.
    if (!tokens.isGood(signedIn, fields['token'])) return askView(words, 200, emptyForm)
    const viewer = { signedIn, client }
    if (decision !== 'approve') {
      const denied = await denyGrant(accounts, code, viewer)
      return denied.ok ? doneView(name, 'denied', words) : refuse({}, denied, words)
    }
    const approved = await approveGrant(accounts, code, viewer)
    return approved.ok ? doneView(approved.value.clientName, 'approved', words) : refuse({}, approved, words)
  }

  function decideView({ visitor, words }: Visit, grant: GrantInfo): PageAnswer {
    const main = grantView(grant, { token: tokens.make(visitor), nowMs: accounts.nowMs(), words })
    return { kind: 'page', status: 200, title: words.t('Approve this device?'), main }
  }

  return accountPage({
    path: '/device',
    show: async ({ words }) => askView(words, 200, emptyForm),
    submit: (visit, fields) => (fields['form'] === 'decide' ? decide(visit, fields) : lookUp(visit, fields)),
  })
}

function refuse(fields: FormFields, refusal: AccountRefusal, words: Words): PageAnswer {
  const { code, retryAfterSeconds } = refusal
  const state = formFault(fields, 'user_code', refusalSentence(refusal, words))
  return {
    ...askView(words, errors[code].status, state),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
}

function askView(words: Words, status: number, state: FormState): PageAnswer {
  const { t, tp } = words
  const fields = html`<div class="code">${field(words, 'look-up', state, {
    name: 'user_code',
    label: t('Code'),
    autocomplete: 'off',
    isFirst: true,
    lengthMax: 40,
    hint: t('The eight letters that the device shows.'),
  })}</div>`
  const admin = html`<a href="admin">${t('Admin, Devices')}</a>`
  const main = html`<p class="lead">${t('A device or a program that shows a code asks for an API key of your account. Enter the code to see what asks, then approve or deny it.')}</p>
<p class="warning"><strong>${t('Did you get a code from another person?')}</strong> ${t('Do not enter it. It would give them access to your account.')}</p>
${form({ name: 'look-up', action: 'device', state, fields, submit: t('Continue') })}
<p class="more">${tp('A sensor that sends readings has a name and a password instead. Administrators add it in {link}.', { link: admin })}</p>
`
  return { kind: 'page', status, title: t('Connect a device'), main }
}

function doneView(name: string, status: 'approved' | 'denied', { t, tp }: Words): PageAnswer {
  const isApproved = status === 'approved'
  const said = isApproved
    ? t('“{name}” has an API key with the permission to read.', { name })
    : t('“{name}” has no API key.', { name })
  const more = isApproved
    ? tp('You can revoke the key in {link}.', { link: html`<a href="account">${t('your account')}</a>` })
    : html`<a href="device">${t('Enter another code')}</a>`
  const main = html`<p class="lead">${said}</p>
<p class="more">${more}</p>
`
  return { kind: 'page', status: 200, title: isApproved ? t('Approved') : t('Denied'), main }
}

/** Shows the requesting device and the decision. */
function grantView(grant: GrantInfo, { token, nowMs, words }: { token: string; nowMs: number; words: Words }): Html {
  const { t } = words
  const { userCode, clientName, address, createdMs } = grant
  return html`<section class="card" aria-label="${t('The device')}">
<dl>
<dt>${t('Name it gives')}</dt><dd>“${clientName}”</dd>
<dt>${t('Address')}</dt><dd>${address}</dd>
<dt>${t('Requested')}</dt><dd>${ageOf(nowMs - createdMs, words)}</dd>
<dt>${t('Code')}</dt><dd><code>${userCode}</code></dd>
<dt>${t('Receives')}</dt><dd>${t('an API key with the permission to read, until you revoke it')}</dd>
</dl>
<p class="warning">${t('A device can give any name. Approve it only if it is yours and shows this code now.')}
<strong>${t('Did another person send you the code? Deny it.')}</strong></p>
<form method="post" action="device">
<input type="hidden" name="form" value="decide">
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="client_name" value="${clientName}">
<input type="hidden" name="token" value="${token}">
<p class="buttons"><button class="button danger" name="decision" value="deny">${t('Deny')}</button>
<button class="button strong" name="decision" value="approve">${t('Approve')}</button></p>
</form>
</section>
`
}

function ageOf(ms: number, { t, tn }: Words): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  if (minutes === 0) return t('less than a minute ago')
  return tn(minutes, 'a minute ago', '{count} minutes ago')
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
