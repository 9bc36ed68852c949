/** Tokens that are not stored before they come back, and count once all the same: those that were used are noted. */

import { hash } from 'node:crypto'
import type { Transaction } from '../store/postgres/transaction.ts'

/** One statement, so that of many who come with the same token one gets true. It has to be refused once it is over. */
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
