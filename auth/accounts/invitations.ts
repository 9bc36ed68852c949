/** Administrators create and revoke invitations, invited people redeem them. */

import { writeAudit } from '../audit.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import type { RateLimit } from '../rate-limits.ts'
import { type AccountParts, inNewTransaction } from './account-parts.ts'
import { createToken } from './account-tokens.ts'
import { emailKeyOf } from './email-address.ts'
import { type NewInvitation, removeInvitation, storeInvitation } from './invitation.ts'
import type { Invitation } from './invitation-details.ts'

const hourMs = 3_600_000
const lifetimeMs = 7 * 24 * hourMs
const openMax = 1000

/** Limits for one administrator, and for mails to one address. */
const ofActor: RateLimit = { kind: 'invitations', countMax: 100, windowMs: hourMs }
const ofAddress: RateLimit = { kind: 'invitations to an address', countMax: 5, windowMs: hourMs }

export interface InvitationRequest extends NewInvitation {
  /** True if it is also mailed. */
  isMailed: boolean
}

export type Invited =
  | { ok: true; value: { invitation: Invitation; token: string } }
  | { ok: false; code: 'EMAIL_TAKEN' | 'TOO_MANY_INVITATIONS' }
  | { ok: false; code: 'TOO_MANY_REQUESTS'; retryAfterSeconds: number }

/** The administrator passes on the token's link. The mail has another token. */
export async function invite(
  parts: AccountParts,
  { isMailed, ...invited }: InvitationRequest,
  actor: string,
): Promise<Invited> {
  const { email, role, viewer } = invited
  for (const [limit, key] of [[ofActor, actor] as const, [ofAddress, emailKeyOf(email)] as const]) {
    const retryAfterSeconds = await parts.limits.take(limit, key)
    if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
  }
  const token = createToken()
  const nowMs = parts.nowMs()
  const made = await inNewTransaction(parts, async (transaction): Promise<Invited> => {
    const taken = 'SELECT 1 FROM accounts WHERE email_key = $1 AND tenant_id IS NULL'
    const { rows } = await transaction.query(taken, [emailKeyOf(email)])
    if (rows.length > 0) return { ok: false, code: 'EMAIL_TAKEN' }
    const stored = { ...invited, invitedBy: actor, token, nowMs, lifetimeMs, openMax }
    const invitation = await storeInvitation(transaction, stored)
    if (invitation === undefined) return { ok: false, code: 'TOO_MANY_INVITATIONS' }
    if (isMailed) await queueMail(transaction, { kind: 'invitation', email, accountId: null, nowMs })
    const details = { email, role, viewer }
    await writeAudit(transaction, { actor, action: 'invitation.add', subject: subjectOf(invitation), details })
    return { ok: true, value: { invitation, token } }
  })
  if (isMailed) parts.mailDue()
  return made
}

/** False if it is not open. */
export async function revokeInvitation(parts: AccountParts, id: number, actor: string): Promise<boolean> {
  return await inNewTransaction(parts, async transaction => {
    const removed = await removeInvitation(transaction, id)
    if (removed === undefined) return false
    const details = { email: removed.email }
    await writeAudit(transaction, { actor, action: 'invitation.revoke', subject: subjectOf(removed), details })
    return true
  })
}

/** Names an invitation in the audit. */
function subjectOf({ id }: Pick<Invitation, 'id'>): string {
  return `invitation ${id}`
}
