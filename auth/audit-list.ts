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
  return { entries, names: await namesIn(database, shown), page, next: rows.length > shown.length ? page + 1 : null }
}

const tables = {
  account: 'accounts',
  device: 'devices',
  'alert rule': 'alert_rules',
  'alert channel': 'alert_channels',
} as const
/** A device has a number as an actor, and its name as a subject. */
const numbered = /(\b(?:account|alert rule|alert channel)|^device) ([0-9]{1,9})\b/g

/** The audit names accounts, devices, rules and channels by numbers. Removed ones have no name. */
async function namesIn(database: Pick<pg.Pool, 'query'>, rows: readonly Row[]): Promise<Record<string, string>> {
  const found = rows.flatMap(({ actor, subject }) => [...`${actor}\n${subject}`.matchAll(numbered)])
  const names: Record<string, string> = {}
  for (const [kind, table] of Object.entries(tables)) {
    const ids = new Set(found.filter(match => match[1] === kind).map(match => Number(match[2])))
    if (ids.size === 0) continue
    const column = table === 'accounts' ? 'coalesce(name, email)' : 'name'
    const key = table === 'devices' ? 'number' : 'id'
    const { rows: named } = await database.query<{ id: number; name: string }>(
      `SELECT ${key} AS id, ${column} AS name FROM ${table} WHERE ${key} = ANY($1::int[])`,
      [[...ids]],
    )
    for (const { id, name } of named) names[`${kind} ${id}`] = name
  }
  return names
}
