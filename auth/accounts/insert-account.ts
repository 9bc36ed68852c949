/** Inserts the row of a new account: an ordinary one, or a user of a tenant. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Role } from './role.ts'

export interface InsertedAccount {
  email: string
  /** Null for an account that signs in elsewhere, or has no password yet. */
  passwordHash: string | null
  name: string | null
  image: string | null
  isVerified: boolean
  role: Role
  isViewer: boolean
  /** Tenant and subject of a user; null for an ordinary account. */
  tenant: { id: number; subject: string } | null
  nowMs: number
}

/** Rejects if the address or the subject is taken. */
export async function insertAccount(transaction: Transaction, account: InsertedAccount): Promise<number> {
  const { email, passwordHash, name, image, isVerified, role, isViewer, tenant, nowMs } = account
  const { rows } = await transaction.query<{ id: number }>(
    `INSERT INTO accounts (email, password_hash, name, image, role, is_viewer, tenant_id, tenant_subject,
       email_verified_at, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $6, $7::integer, $8, CASE WHEN $9::boolean THEN at END, at, at
     FROM (SELECT to_timestamp($10::float8 / 1000) AS at) AS clock
     RETURNING id`,
    [email, passwordHash, name, image, role, isViewer, tenant?.id, tenant?.subject, isVerified, nowMs],
  )
  const [row] = rows
  if (row === undefined) throw new Error('an insertion gives a row')
  return row.id
}
