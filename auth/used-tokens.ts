/** Makes self-contained tokens single-use: used ones are stored. */

import { hash } from 'node:crypto'
import type { Transaction } from '../store/postgres/transaction.ts'

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
