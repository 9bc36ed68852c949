/** Finds a device's request by the typed code, and approves or denies it. An approval creates an API key whose text is generated when the device fetches it. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { subjectOf } from '../accounts/account.ts'
import { type AccountParts, type Client, changeAccount, inNewTransaction } from '../accounts/account-parts.ts'
import { writeAudit } from '../audit.ts'
import { insertKey } from '../keys/key-rows.ts'
import { type AccountRefusal, accepted, type Outcome, refused } from '../outcome.ts'
import type { SignedIn } from '../sessions/session-codec.ts'
import {
  digestOfCode,
  formatUserCode,
  type Grant,
  type GrantState,
  grantColumns,
  grantSubject,
  oneGrant,
  parseUserCode,
  stateOf,
} from './grant.ts'

/** The person at the browser, and the origin of the request. */
export interface Viewer {
  signedIn: SignedIn
  client: Client
}

export interface GrantInfo {
  userCode: string
  /** The device's untrusted name for itself. */
  clientName: string
  address: string
  status: Exclude<GrantState, 'consumed' | 'expired'>
  createdMs: number
  expiresMs: number
}

export async function lookUpGrant(parts: AccountParts, typed: string, viewer: Viewer): Promise<Outcome<GrantInfo>> {
  const found = await findForViewer(parts, typed, viewer)
  if (!found.ok) return found
  const { clientName, address, createdMs, expiresMs } = found.value
  const state = stateOf(found.value, parts.nowMs())
  if (state === 'expired') return refused('GRANT_EXPIRED')
  const status = state === 'consumed' ? 'approved' : state
  const userCode = formatUserCode(parseUserCode(typed) ?? '')
  return accepted({ userCode, clientName, address, status, createdMs, expiresMs })
}

/** Finds the request of a code, bound to the session that typed it. */
function findForViewer(parts: AccountParts, typed: string, viewer: Viewer): Promise<Outcome<Grant>> {
  const session = sessionOf(viewer)
  const who = { account: String(viewer.signedIn.account.id), network: viewer.client.network }
  return parts.codeGuesses.run(who, async () => {
    const grant = await bind(parts, typed, session)
    if (grant === undefined) return refused('GRANT_UNKNOWN')
    return grant.viewer === session ? accepted(grant) : refused('GRANT_FOREIGN')
  })
}

/** One statement, so that only one of several concurrent sessions gets it. */
async function bind({ pool }: AccountParts, typed: string, viewer: string): Promise<Grant | undefined> {
  const code = parseUserCode(typed)
  if (code === undefined) return undefined
  const text = `UPDATE device_grants SET viewer = coalesce(viewer, $2) WHERE user_digest = $1 RETURNING ${grantColumns}`
  return await oneGrant(pool, text, [digestOfCode(code), viewer])
}

/** Tokens from elsewhere may lack a session, so the account replaces it. */
function sessionOf({ signedIn: { sid, account } }: Viewer): string {
  return sid === undefined ? `account ${account.id}` : `session ${sid}`
}

interface Approval {
  /** Name of the key; by default the device's name for itself. */
  name?: string | null | undefined
}

interface ApprovedGrant {
  clientName: string
  keyPrefix: string
}

/** The key may only read. Its initial text is discarded. */
export async function approveGrant(
  parts: AccountParts,
  typed: string,
  viewer: Viewer,
  { name }: Approval = {},
): Promise<Outcome<ApprovedGrant>> {
  const found = await findForViewer(parts, typed, viewer)
  if (!found.ok) return found
  const grant = found.value
  const nowMs = parts.nowMs()
  const undecided = refusalOf(grant, nowMs)
  if (undecided !== undefined) return undecided
  const accountId = viewer.signedIn.account.id
  const approved = await orRefused(
    changeAccount(parts, accountId, async transaction => {
      await decide(transaction, grant, { status: 'approved', accountId, nowMs })
      const key = await insertKey(transaction, {
        accountId,
        name: name ?? grant.clientName,
        scopes: ['read'],
        createDevices: false,
        expiresMs: null,
        nowMs,
      })
      if (!key.ok) throw new Refused(key)
      await transaction.query('UPDATE device_grants SET key_id = $2 WHERE id = $1', [grant.id, key.value.id])
      return key.value.prefix
    }),
  )
  if (!approved.ok) return approved
  parts.mailDue()
  return accepted({ clientName: grant.clientName, keyPrefix: approved.value })
}

/** A denied request may be denied again. */
export async function denyGrant(parts: AccountParts, typed: string, viewer: Viewer): Promise<Outcome<undefined>> {
  const found = await findForViewer(parts, typed, viewer)
  if (!found.ok) return found
  const nowMs = parts.nowMs()
  if (found.value.status === 'denied') return accepted(undefined)
  const undecided = refusalOf(found.value, nowMs)
  if (undecided !== undefined) return undecided
  const decision = { status: 'denied', accountId: viewer.signedIn.account.id, nowMs } as const
  const denied = await orRefused(inNewTransaction(parts, transaction => decide(transaction, found.value, decision)))
  if (denied.ok) return denied
  // A concurrent request of the same session decided first.
  const again = await findForViewer(parts, typed, viewer)
  return again.ok && again.value.status === 'denied' ? accepted(undefined) : denied
}

/** Undefined for a pending request. */
function refusalOf(grant: Grant, nowMs: number): AccountRefusal | undefined {
  const state = stateOf(grant, nowMs)
  if (state === 'pending') return undefined
  return refused(state === 'expired' ? 'GRANT_EXPIRED' : 'GRANT_DECIDED')
}

interface Decision {
  status: 'approved' | 'denied'
  accountId: number
  nowMs: number
}

/** One conditional statement, so that only one of several concurrent decisions takes effect. */
async function decide(
  transaction: Transaction,
  { id, viewer, clientName }: Grant,
  { status, accountId, nowMs }: Decision,
): Promise<undefined> {
  const { rowCount } = await transaction.query(
    `UPDATE device_grants SET status = $2, account_id = $3
     WHERE id = $1 AND status = 'pending' AND expires_at > to_timestamp($4::float8 / 1000) AND viewer = $5`,
    [id, status, accountId, nowMs, viewer],
  )
  if (rowCount === 0) throw new Refused(refused('GRANT_DECIDED'))
  const action = status === 'approved' ? 'device-grant.approve' : 'device-grant.deny'
  const details = { client: clientName }
  await writeAudit(transaction, { actor: subjectOf(accountId), action, subject: grantSubject(id), details })
}

/** Rolls back the transaction. */
class Refused extends Error {
  readonly refusal: AccountRefusal

  constructor(refusal: AccountRefusal) {
    super(refusal.code)
    this.refusal = refusal
  }
}

async function orRefused<Value>(work: Promise<Value>): Promise<Outcome<Value>> {
  try {
    return accepted(await work)
  } catch (error) {
    if (error instanceof Refused) return error.refusal
    throw error
  }
}
