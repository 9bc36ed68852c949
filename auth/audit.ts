/** The audit: writes entries, names principals in them, and reads pages for administrators. An entry never has a secret. */

import type pg from 'pg'
import type { Log } from '../store/log.ts'
import { subjectOf } from './accounts/account.ts'
import type { AuditPage } from './audit-page.ts'
import { pageOffset, rowsPerPage } from './list-page.ts'
import type { Principal } from './policy.ts'

const localAdmin = 'local admin token'

export function actorOf(principal: Principal): string {
  switch (principal.kind) {
    case 'session':
    case 'bearer':
      return subjectOf(principal.account.id)
    case 'key':
      return `key ${principal.keyId} of ${subjectOf(principal.account.id)}`
    case 'view-link':
      return `link ${principal.link.id} of ${subjectOf(principal.owner.id)}`
    case 'service':
      return 'service secret'
    case 'admin-token':
      return localAdmin
  }
}

export interface AuditEntry {
  /** `local admin token`, `account 5`, `key 7 of account 5`, or a part of the service. */
  actor: string
  /** `device.add`, `device.change`, `device.rotate`, `device.remove`, `device.erase`, `dead-letters.replay`, … */
  action: string
  subject: string
  details?: Record<string, unknown>
}

/** Changes with several statements in PostgreSQL use this. Changes of the registry write their own row. */
export async function writeAudit(database: Pick<pg.Pool, 'query'>, entry: AuditEntry): Promise<void> {
  await database.query('INSERT INTO audit (actor, action, subject, details) VALUES ($1, $2, $3, $4)', [
    entry.actor,
    entry.action,
    entry.subject,
    JSON.stringify(entry.details ?? {}),
  ])
}

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

export type WriteLateAudit = (entry: AuditEntry) => Promise<void>

/** The log gets an entry that PostgreSQL does not take. */
export function createLateAudit(postgres: Pick<pg.Pool, 'query'>, log: Pick<Log, 'error'>): WriteLateAudit {
  return async entry => {
    try {
      await writeAudit(postgres, entry)
    } catch (error) {
      log.error({ err: error, audit: entry }, 'could not write to the audit log; entry logged here instead')
    }
  }
}
