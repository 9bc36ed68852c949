/** Reads pages of accounts for administrators. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { listPage, pageOffset, rowsPerPage } from '../list-page.ts'
import type { AccountDetails, AccountPage } from './account-details.ts'

interface Row extends Omit<AccountDetails, 'email_verified' | 'created_at' | 'updated_at' | 'viewer'> {
  is_viewer: boolean
  email_verified_at: Date | null
  created_at: Date
  updated_at: Date
}

const select = `SELECT accounts.id, email, accounts.name, role, accounts.is_viewer, accounts.is_active, email_verified_at,
  tenants.slug AS tenant_slug, accounts.created_at, accounts.updated_at
  FROM accounts LEFT JOIN tenants ON tenants.id = accounts.tenant_id`
const matches = "($1 = '' OR strpos(email_key, lower($1)) > 0 OR strpos(lower(accounts.name), lower($1)) > 0)"

/** Searches address and name without regard to case. Pages count from 1. */
export async function accountPage(database: Transaction, search: string, page: number): Promise<AccountPage> {
  const count = `SELECT count(*)::int AS total FROM accounts WHERE ${matches}`
  const { rows: counted } = await database.query<{ total: number }>(count, [search])
  const total = counted[0]?.total ?? 0
  const text = `${select} WHERE ${matches} ORDER BY accounts.id LIMIT $2 OFFSET $3`
  const { rows } = await database.query<Row>(text, [search, rowsPerPage, pageOffset(page)])
  return { accounts: rows.map(detailsOf), ...listPage(total, page) }
}

export async function readAccountDetails(database: Transaction, id: number): Promise<AccountDetails | undefined> {
  const { rows } = await database.query<Row>(`${select} WHERE accounts.id = $1`, [id])
  const [row] = rows
  return row && detailsOf(row)
}

function detailsOf({ email_verified_at, created_at, updated_at, ...row }: Row): AccountDetails {
  const { id, email, name, role, is_viewer: viewer, is_active, tenant_slug } = row
  return {
    id,
    email,
    name,
    role,
    viewer,
    is_active,
    tenant_slug,
    email_verified: email_verified_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
