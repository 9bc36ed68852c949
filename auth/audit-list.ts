/** The audit as administrators read it, newest first. */

import type pg from 'pg'
import type { AuditPage } from './audit-page.ts'
import { pageOffset, rowsPerPage } from './list-page.ts'

interface Row {
  id: string
  at: Date
  actor: string
  action: string
  subject: string
  details: Record<string, unknown>
}

/** Pages count from 1. Without the number of all: counting a trail of years would take longer than reading a page. */
export async function auditPage(database: Pick<pg.Pool, 'query'>, page: number): Promise<AuditPage> {
  const { rows } = await database.query<Row>(
    'SELECT id, at, actor, action, subject, details FROM audit ORDER BY id DESC LIMIT $1 OFFSET $2',
    // One more than is shown tells whether there is a next page.
    [rowsPerPage + 1, pageOffset(page)],
  )
  const shown = rows.slice(0, rowsPerPage)
  const entries = shown.map(row => ({ ...row, id: Number(row.id), at: row.at.toISOString() }))
  return { entries, page, next: rows.length > shown.length ? page + 1 : null }
}
