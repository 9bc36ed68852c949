/** Writes the rows of sessions. Deleting one revokes its tokens. */

import { randomBytes } from 'node:crypto'
import type { Transaction } from '../../store/postgres/transaction.ts'

export interface NewSession {
  accountId: number
  /** A browser's session, or a token of an API client. */
  kind: 'cookie' | 'token'
  nowMs: number
  lifetimeMs: number
  address: string
  userAgent: string | undefined
}

/** Bounds the browser's name for display. */
const userAgentLengthMax = 300

/** Returns the id of the session, which is new for every sign-in. */
export async function insertSession(transaction: Transaction, session: NewSession): Promise<string> {
  const { accountId, kind, nowMs, lifetimeMs, address, userAgent = null } = session
  const sid = randomBytes(24).toString('base64url')
  await transaction.query(
    `INSERT INTO sessions (sid, account_id, kind, created_at, expires_at, address, user_agent)
     VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000), to_timestamp($5::float8 / 1000), $6, $7)`,
    [sid, accountId, kind, nowMs, nowMs + lifetimeMs, address, userAgent?.slice(0, userAgentLengthMax)],
  )
  return sid
}

export async function revokeSession(
  transaction: Transaction,
  accountId: number,
  sid: string,
  nowMs: number,
): Promise<void> {
  await transaction.query(
    `UPDATE sessions SET revoked_at = to_timestamp($3::float8 / 1000)
     WHERE sid = $1 AND account_id = $2 AND revoked_at IS NULL`,
    [sid, accountId, nowMs],
  )
}

/** Tokens without a session are revoked, too, if they date from before the next whole second. */
export async function revokeAllSessions(transaction: Transaction, accountId: number, nowMs: number): Promise<void> {
  await transaction.query(
    'UPDATE sessions SET revoked_at = to_timestamp($2::float8 / 1000) WHERE account_id = $1 AND revoked_at IS NULL',
    [accountId, nowMs],
  )
  await transaction.query('UPDATE accounts SET tokens_valid_after = to_timestamp($2) WHERE id = $1', [
    accountId,
    Math.ceil(nowMs / 1000),
  ])
}
