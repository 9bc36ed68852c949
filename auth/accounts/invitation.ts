/** Invites people by mail: creates, lists, redeems and withdraws invitations. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { listPage, pageOffset, rowsPerPage } from '../list-page.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import type { RateLimit } from '../rate-limits.ts'
import { type AccountParts, inNewTransaction } from './account-parts.ts'
import { createToken, digestOf } from './account-tokens.ts'
import { emailKeyOf } from './email-address.ts'
import type { Invitation, InvitationPage, InvitedRole } from './invitation-details.ts'

interface Row extends Omit<Invitation, 'viewer' | 'created_at' | 'expires_at'> {
  is_viewer: boolean
  created_at: Date
  expires_at: Date
}

const columns = 'id, email, role, is_viewer, invited_by, created_at, expires_at'

function invitationOf({ is_viewer: viewer, created_at, expires_at, ...row }: Row): Invitation {
  const { id, email, role, invited_by } = row
  const times = { created_at: created_at.toISOString(), expires_at: expires_at.toISOString() }
  return { id, email, role, viewer, invited_by, ...times }
}

/** Open invitations, newest first. Pages count from 1. */
export async function invitationPage(database: Transaction, page: number, nowMs: number): Promise<InvitationPage> {
  const { rows: counted } = await database.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM invitations WHERE expires_at > to_timestamp($1::float8 / 1000)',
    [nowMs],
  )
  const total = counted[0]?.total ?? 0
  const { rows } = await database.query<Row>(
    `SELECT ${columns} FROM invitations WHERE expires_at > to_timestamp($1::float8 / 1000)
     ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
    [nowMs, rowsPerPage, pageOffset(page)],
  )
  return { invitations: rows.map(invitationOf), ...listPage(total, page) }
}

interface NewInvitation {
  email: string
  role: InvitedRole
  viewer: boolean
}

interface StoredInvitation extends NewInvitation {
  invitedBy: string
  token: string
  nowMs: number
  lifetimeMs: number
  openMax: number
}

// An arbitrary fixed number: "baroinvt" in ASCII.
const invitationsLock = '7089073111293654644'

/** Replaces an invitation for the same address. Undefined while too many others are open. */
async function storeInvitation(transaction: Transaction, stored: StoredInvitation): Promise<Invitation | undefined> {
  const { email, role, viewer, invitedBy, token, nowMs, lifetimeMs, openMax } = stored
  // Held until the end of the transaction, so that a concurrent one counts this invitation.
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [invitationsLock])
  const { rows } = await transaction.query<Row>(
    `INSERT INTO invitations (email, role, is_viewer, invited_by, link_digest, created_at, expires_at)
     SELECT $1, $2, $3::boolean, $4, $5::bytea, at, at + $6::float8 * interval '1 millisecond'
     FROM (SELECT to_timestamp($7::float8 / 1000) AS at) AS clock
     WHERE (SELECT count(*) FROM invitations WHERE expires_at > at AND email_key <> lower($1)) < $8
     ON CONFLICT (email_key) DO UPDATE SET email = excluded.email, role = excluded.role, is_viewer = excluded.is_viewer,
       invited_by = excluded.invited_by, link_digest = excluded.link_digest, mail_digest = NULL,
       created_at = excluded.created_at, expires_at = excluded.expires_at
     RETURNING ${columns}`,
    [email, role, viewer, invitedBy, digestOf(token), lifetimeMs, nowMs, openMax],
  )
  const [row] = rows
  return row && invitationOf(row)
}

/** Only the mail has the token. Undefined if the invitation no longer exists. */
export async function issueMailedInvitation(
  database: Transaction,
  email: string,
  nowMs: number,
): Promise<string | undefined> {
  const token = createToken()
  const { rowCount } = await database.query(
    'UPDATE invitations SET mail_digest = $2 WHERE email_key = $1 AND expires_at > to_timestamp($3::float8 / 1000)',
    [emailKeyOf(email), digestOf(token), nowMs],
  )
  return rowCount === 0 ? undefined : token
}

/** Invitation of a token that is valid now. */
export async function peekInvitation(
  database: Transaction,
  token: string,
  nowMs: number,
): Promise<{ email: string } | undefined> {
  const { rows } = await database.query<{ email: string }>(
    'SELECT email FROM invitations WHERE $1 IN (link_digest, mail_digest) AND expires_at > to_timestamp($2::float8 / 1000)',
    [digestOf(token), nowMs],
  )
  return rows[0]
}

/** Role of the account, and whether the token was mailed, which verifies the address. */
export interface RedeemedInvitation {
  id: number
  role: InvitedRole
  isViewer: boolean
  isMailed: boolean
}

/**
 * Redeems by token, or by an address that a provider has verified. Only one of several concurrent requests succeeds.
 */
export async function redeemInvitation(
  transaction: Transaction,
  { email, token }: { email: string; token: string | undefined },
  nowMs: number,
): Promise<RedeemedInvitation | undefined> {
  const { rows } = await transaction.query<{ id: number; role: InvitedRole; is_viewer: boolean; is_mailed: boolean }>(
    `DELETE FROM invitations
     WHERE email_key = $1 AND ($2::bytea IS NULL OR $2 IN (link_digest, mail_digest))
       AND expires_at > to_timestamp($3::float8 / 1000)
     RETURNING id, role, is_viewer, (mail_digest = $2) IS TRUE AS is_mailed`,
    [emailKeyOf(email), token === undefined ? null : digestOf(token), nowMs],
  )
  const [row] = rows
  return row && { id: row.id, role: row.role, isViewer: row.is_viewer, isMailed: row.is_mailed }
}

async function removeInvitation(transaction: Transaction, id: number): Promise<Invitation | undefined> {
  const { rows } = await transaction.query<Row>(`DELETE FROM invitations WHERE id = $1 RETURNING ${columns}`, [id])
  const [row] = rows
  return row && invitationOf(row)
}

const hourMs = 3_600_000
const lifetimeMs = 7 * 24 * hourMs
const openMax = 1000

/** Limits for one administrator, and for mails to one address. */
const ofActor: RateLimit = { kind: 'invitations', countMax: 100, windowMs: hourMs }
const ofAddress: RateLimit = { kind: 'invitations to an address', countMax: 5, windowMs: hourMs }

interface InvitationRequest extends NewInvitation {
  /** True if it is also mailed. */
  isMailed: boolean
}

type Invited =
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
