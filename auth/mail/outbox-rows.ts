/** Writes outgoing mail as rows in the transaction that causes it. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { TooBusy } from '../too-busy.ts'

export type MailKind =
  | 'verification'
  | 'password-reset'
  | 'password-changed'
  | 'email-change'
  | 'key-created'
  | 'login-after-failures'
  | 'invitation'
  | 'alert-channel-disabled'

export interface QueuedMail {
  kind: MailKind
  email: string
  /** Null for a request by address. */
  accountId: number | null
  nowMs: number
}

/** While the mail server is unavailable for long, further requests for mail are refused. */
const waitingMax = 10_000

export async function queueMail(
  transaction: Transaction,
  { kind, email, accountId, nowMs }: QueuedMail,
): Promise<void> {
  const { rowCount } = await transaction.query(
    `INSERT INTO mail_outbox (kind, email, account_id, created_at, due_at)
     SELECT $1, $2, $3::integer, at, at FROM (SELECT to_timestamp($4::float8 / 1000) AS at) AS clock
     WHERE (SELECT count(*) FROM (SELECT 1 FROM mail_outbox LIMIT $5) AS waiting) < $5`,
    [kind, email, accountId, nowMs, waitingMax],
  )
  if (rowCount === 0) throw new TooBusy('too many pending mails', 60)
}

export interface DueMail {
  id: string
  kind: MailKind
  email: string
  account_id: number | null
  attempts: number
}

export interface Claim {
  nowMs: number
  /** Other senders skip them until then, unless they are postponed. */
  untilMs: number
  rowsMax: number
}

/** Claims due mails, different ones for each sender. Mails of a sender that ended are due again after their claim. */
export async function claimDueMail(database: Transaction, { nowMs, untilMs, rowsMax }: Claim): Promise<DueMail[]> {
  const { rows } = await database.query<DueMail>(
    `WITH due AS (
       SELECT id FROM mail_outbox WHERE due_at <= to_timestamp($1::float8 / 1000)
       ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     UPDATE mail_outbox SET due_at = to_timestamp($2::float8 / 1000) FROM due WHERE mail_outbox.id = due.id
     RETURNING mail_outbox.id, kind, email, account_id, attempts`,
    [nowMs, untilMs, rowsMax],
  )
  return rows
}

export async function removeMail(database: Transaction, id: string): Promise<void> {
  await database.query('DELETE FROM mail_outbox WHERE id = $1', [id])
}

/** Skipped if another sender has tried it since, which happens only after a claim has expired. */
export async function postponeMail(
  database: Transaction,
  { id, attempts }: Pick<DueMail, 'id' | 'attempts'>,
  dueMs: number,
): Promise<void> {
  await database.query(
    `UPDATE mail_outbox SET attempts = attempts + 1, due_at = to_timestamp($3::float8 / 1000)
     WHERE id = $1 AND attempts = $2`,
    [id, attempts, dueMs],
  )
}
