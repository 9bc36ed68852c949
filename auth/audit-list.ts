/** Reads the audit for administrators, newest first. */

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

/** Pages count from 1. The total is left out: counting years of entries takes longer than reading a page. */
export async function auditPage(database: Pick<pg.Pool, 'query'>, page: number): Promise<AuditPage> {
  const { rows } = await database.query<Row>(
    'SELECT id, at, actor, action, subject, details FROM audit ORDER BY id DESC LIMIT $1 OFFSET $2',
    // One more row than is shown reveals whether there is a next page.
    [rowsPerPage + 1, pageOffset(page)],
  )
  const shown = rows.slice(0, rowsPerPage)
  const entries = shown.map(row => ({ ...row, id: Number(row.id), at: row.at.toISOString() }))
  return { entries, page, next: rows.length > shown.length ? page + 1 : null }
}
