/** Tokens of single use: mailed ones, stored as SHA-256 and replaced by newer ones, and self-contained ones. */

import { hash, randomBytes } from 'node:crypto'
import type { Transaction } from '../../store/postgres/transaction.ts'

export type TokenPurpose = 'verification' | 'password-reset'

const lifetimeMs: Record<TokenPurpose, number> = { verification: 24 * 3_600_000, 'password-reset': 3_600_000 }

/** True if mail of this kind has a token. */
export function isTokenPurpose(kind: string): kind is TokenPurpose {
  return Object.hasOwn(lifetimeMs, kind)
}

interface Redeemed {
  accountId: number
  email: string
}

/** Only the result has the token. */
export async function issueToken(
  database: Transaction,
  purpose: TokenPurpose,
  { accountId, email }: Redeemed,
  nowMs: number,
): Promise<string> {
  const token = createToken()
  await database.query(
    `INSERT INTO account_tokens (account_id, purpose, digest, email, expires_at)
     VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000))
     ON CONFLICT (account_id, purpose) DO UPDATE
       SET digest = excluded.digest, email = excluded.email, expires_at = excluded.expires_at`,
    [accountId, purpose, digestOf(token), email, nowMs + lifetimeMs[purpose]],
  )
  return token
}

/** Account of a token that is valid now. */
export async function peekToken(
  database: Transaction,
  purpose: TokenPurpose,
  token: string,
  nowMs: number,
): Promise<Redeemed | undefined> {
  const { rows } = await database.query<{ account_id: number; email: string }>(
    `SELECT account_id, email FROM account_tokens
     WHERE digest = $1 AND purpose = $2 AND expires_at > to_timestamp($3::float8 / 1000)`,
    [digestOf(token), purpose, nowMs],
  )
  return redeemedIn(rows)
}

/** One statement, so that only one of several concurrent requests gets the token. */
export async function redeemToken(
  transaction: Transaction,
  purpose: TokenPurpose,
  token: string,
  nowMs: number,
): Promise<Redeemed | undefined> {
  const { rows } = await transaction.query<{ account_id: number; email: string }>(
    `DELETE FROM account_tokens
     WHERE digest = $1 AND purpose = $2 AND expires_at > to_timestamp($3::float8 / 1000)
     RETURNING account_id, email`,
    [digestOf(token), purpose, nowMs],
  )
  return redeemedIn(rows)
}

function redeemedIn(rows: readonly { account_id: number; email: string }[]): Redeemed | undefined {
  const [row] = rows
  return row && { accountId: row.account_id, email: row.email }
}

export function createToken(): string {
  return randomBytes(32).toString('base64url')
}

export function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** One statement, so that only one of concurrent requests gets true. The caller refuses expired tokens. */
export async function useToken(
  database: Transaction,
  purpose: string,
  token: string,
  expiresMs: number,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `INSERT INTO used_tokens (purpose, digest, expires_at) VALUES ($1, $2, to_timestamp($3::float8 / 1000))
     ON CONFLICT DO NOTHING`,
    [purpose, hash('sha256', token, 'buffer'), expiresMs],
  )
  return rowCount === 1
}
