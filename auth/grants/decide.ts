/**
 * Approves or denies a device's request. An approval creates an API key that is counted, listed and revocable. Its text
 * is generated when the device fetches it (poll.ts).
 */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { subjectOf } from '../accounts/account.ts'
import { type AccountParts, changeAccount, inNewTransaction } from '../accounts/account-parts.ts'
import { writeAudit } from '../audit.ts'
import { insertKey } from '../keys/key-rows.ts'
import { type AccountRefusal, accepted, type Outcome, refused } from '../outcome.ts'
import { type Grant, grantSubject, stateOf } from './grant.ts'
import { findForViewer, type Viewer } from './look-up.ts'

export interface Approval {
  /** Name of the key; by default the device's name for itself. */
  name?: string | null | undefined
}

export interface ApprovedGrant {
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
