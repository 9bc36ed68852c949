/** Reads and writes saved views in PostgreSQL. Changes run in a transaction of `changeAccount` of their account. */

import { bug } from '../../store/limits/bug.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Panel } from './panel.ts'
import type { SavedView } from './view.ts'

interface ViewRow {
  id: number
  name: string
  address: string
  is_start: boolean
  panels: Panel[] | null
  created_at: Date
}

const columns = 'id, name, address, is_start, panels, created_at'

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
  /** Undefined for a dashboard, whose address has its id. */
  address: string | undefined
  panels: Panel[] | null
  isStart: boolean
}

export async function insertView(
  transaction: Transaction,
  accountId: number,
  { name, address, panels, isStart }: NewView,
  nowMs: number,
): Promise<SavedView> {
  if (isStart) await clearStart(transaction, accountId)
  const { rows } = await transaction.query<ViewRow>(
    `INSERT INTO saved_views (account_id, name, address, is_start, panels, created_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000)) RETURNING ${columns}`,
    [accountId, name, address ?? '/', isStart, jsonOf(panels), nowMs],
  )
  const [row] = rows
  if (row === undefined) throw bug('an insert gave no row')
  const view = viewOf(row)
  if (address !== undefined) return view
  const dashboard = { ...view, address: dashboardAddress(view.id) }
  await updateView(transaction, accountId, dashboard)
  return dashboard
}

export async function updateView(
  transaction: Transaction,
  accountId: number,
  { id, name, address, isStart, panels }: SavedView,
): Promise<void> {
  if (isStart) await clearStart(transaction, accountId)
  await transaction.query(
    'UPDATE saved_views SET name = $3, address = $4, is_start = $5, panels = $6 WHERE id = $1 AND account_id = $2',
    [id, accountId, name, address, isStart, jsonOf(panels)],
  )
}

export function dashboardAddress(id: number): string {
  return `/dashboard/${id}`
}

/** The client would send an array as one of PostgreSQL. */
function jsonOf(panels: readonly Panel[] | null): string | null {
  return panels && JSON.stringify(panels)
}

export async function removeView(transaction: Transaction, accountId: number, id: number): Promise<void> {
  await transaction.query('DELETE FROM saved_views WHERE id = $1 AND account_id = $2', [id, accountId])
}

async function clearStart(transaction: Transaction, accountId: number): Promise<void> {
  await transaction.query('UPDATE saved_views SET is_start = false WHERE account_id = $1 AND is_start', [accountId])
}

function viewOf({ id, name, address, is_start, panels, created_at }: ViewRow): SavedView {
  return { id, name, address, isStart: is_start, panels, createdMs: created_at.getTime() }
}
