/** Reads and writes saved views in PostgreSQL. Changes run in a transaction of `changeAccount` of their account. */

import { bug } from '../../store/limits/bug.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { SavedView } from './view.ts'

interface ViewRow {
  id: number
  name: string
  address: string
  is_start: boolean
  created_at: Date
}

const columns = 'id, name, address, is_start, created_at'

/** Ordered by name. */
export async function readViews(database: Transaction, accountId: number): Promise<SavedView[]> {
  const { rows } = await database.query<ViewRow>(
    `SELECT ${columns} FROM saved_views WHERE account_id = $1 ORDER BY lower(name), id`,
    [accountId],
  )
  return rows.map(viewOf)
}

/** Locks the account, so that a concurrent request sees these views. */
export async function lockViews(transaction: Transaction, accountId: number): Promise<SavedView[]> {
  await transaction.query('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId])
  return await readViews(transaction, accountId)
}

export interface NewView {
  name: string
  address: string
  isStart: boolean
}

export async function insertView(
  transaction: Transaction,
  accountId: number,
  { name, address, isStart }: NewView,
  nowMs: number,
): Promise<SavedView> {
  if (isStart) await clearStart(transaction, accountId)
  const { rows } = await transaction.query<ViewRow>(
    `INSERT INTO saved_views (account_id, name, address, is_start, created_at)
     VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000)) RETURNING ${columns}`,
    [accountId, name, address, isStart, nowMs],
  )
  const [row] = rows
  if (row === undefined) throw bug('an insert gave no row')
  return viewOf(row)
}

export async function updateView(
  transaction: Transaction,
  accountId: number,
  { id, name, isStart }: Pick<SavedView, 'id' | 'name' | 'isStart'>,
): Promise<void> {
  if (isStart) await clearStart(transaction, accountId)
  await transaction.query('UPDATE saved_views SET name = $3, is_start = $4 WHERE id = $1 AND account_id = $2', [
    id,
    accountId,
    name,
    isStart,
  ])
}

export async function removeView(transaction: Transaction, accountId: number, id: number): Promise<void> {
  await transaction.query('DELETE FROM saved_views WHERE id = $1 AND account_id = $2', [id, accountId])
}

async function clearStart(transaction: Transaction, accountId: number): Promise<void> {
  await transaction.query('UPDATE saved_views SET is_start = false WHERE account_id = $1 AND is_start', [accountId])
}

function viewOf({ id, name, address, is_start, created_at }: ViewRow): SavedView {
  return { id, name, address, isStart: is_start, createdMs: created_at.getTime() }
}
