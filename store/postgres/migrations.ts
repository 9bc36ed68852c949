/** Migrates the schema of PostgreSQL: plain SQL files, forward only, all missing ones in one transaction. */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import { packageVersion } from '../version.ts'
import { isLockTimeout } from './postgres-errors.ts'

export const migrationsFolder = fileURLToPath(new URL('migrations', import.meta.url))

// Any fixed number serves. This one is "barograf" in ASCII.
export const migrationsLock = '7089073111260356966'
const lockTimeoutMsUsual = 60_000

/** The last commit with the migrations of development versions, which the baseline replaces (docs/upgrading.md). */
export const developmentVersion = 'commit 18696e17'
const baseline = '050-baseline.sql'
/** Applied names of a development version with the schema of the baseline: the number of its migrations and the last one. */
const replaced = { count: 50, last: '050-pharmacy-profile.sql' }

interface Migration {
  name: string
  sql: string
  checksum: string
}

interface MigrateOptions {
  lockTimeoutMs?: number
  /** The last migration to apply. */
  last?: string
}

/**
 * The lock belongs to the transaction, not to the session: it cannot outlive it, even behind a pooler that shares a session among
 * clients. `client` is a separate connection, since a migration may take long.
 */
export async function migrate(
  client: pg.ClientBase,
  folder: string,
  log: Log,
  { lockTimeoutMs = lockTimeoutMsUsual, last }: MigrateOptions = {},
): Promise<void> {
  const migrations = readMigrations(folder).filter(({ name }) => last === undefined || name <= last)
  await client.query('BEGIN')
  try {
    await takeLock(client, lockTimeoutMs)
    const pending = pendingOf(migrations, await appliedMigrations(client))
    for (const migration of pending) await apply(client, migration)
    await client.query('COMMIT')
    if (pending.length > 0)
      log.info({ migrations: pending.map(({ name }) => name) }, 'schema of PostgreSQL brought up to date')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Names of the pending migrations, in order. Changes nothing. */
export async function pendingMigrations(client: pg.ClientBase, folder: string): Promise<string[]> {
  const { rows } = await client.query<{ there: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS there",
  )
  const applied = rows[0]?.there === true ? await readApplied(client) : new Map<string, string>()
  return pendingOf(readMigrations(folder), applied).map(({ name }) => name)
}

async function takeLock(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  try {
    await client.query(`SET LOCAL lock_timeout = ${timeoutMs}`)
    await client.query('SELECT pg_advisory_xact_lock($1::bigint)', [migrationsLock])
    await client.query('SET LOCAL lock_timeout = 0')
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    throw new StartError(
      `Another process has been migrating the PostgreSQL schema for ${timeoutMs / 1000} s: wait for it, or stop it.`,
    )
  }
}

/** Names of all migrations, in order. */
export function migrationNames(folder: string): string[] {
  return readMigrations(folder).map(({ name }) => name)
}

function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder).filter(name => name.endsWith('.sql'))
  for (const name of names) {
    if (!/^\d{3}-[a-z0-9-]+\.sql$/.test(name)) {
      throw new StartError(`Invalid migration name ${name}: rename it like 001-devices.sql.`)
    }
  }
  return names.sort().map(name => {
    const sql = readFileSync(join(folder, name), 'utf8')
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

async function appliedMigrations(client: pg.ClientBase): Promise<Map<string, string>> {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`)
  return await readApplied(client)
}

async function readApplied(client: pg.ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations',
  )
  return new Map(rows.map(row => [row.name, row.checksum]))
}

/**
 * Returns the names with the baseline in place of the migrations that it replaces. Undefined for a development version that has
 * only a part of these.
 */
export function withBaseline(names: readonly string[]): string[] | undefined {
  const isReplaced = (name: string) => name !== baseline && name <= replaced.last
  const { length } = names.filter(isReplaced)
  if (length === 0) return [...names]
  if (length < replaced.count || !names.includes(replaced.last)) return undefined
  return [baseline, ...names.filter(name => !isReplaced(name))]
}

/** Returns the pending migrations in order, after verifying that the applied ones are unchanged. */
function pendingOf(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): Migration[] {
  const known = new Set(migrations.map(migration => migration.name))
  const names = known.has(baseline) ? withBaseline([...applied.keys()]) : [...applied.keys()]
  if (names === undefined) {
    throw new StartError(
      `The schema of PostgreSQL is of an earlier development version (last migration ${[...applied.keys()].sort().at(-1)}): ` +
        `start the last development version (${developmentVersion}) on it once, then this one (docs/upgrading.md).`,
    )
  }
  const newer = names.filter(name => !known.has(name))
  if (newer.length > 0) {
    throw new StartError(
      `The schema of PostgreSQL is newer than Barograph ${packageVersion()} (applied: ${newer.join(', ')}): ` +
        'start the version that applied it, or a later one (docs/upgrading.md).',
    )
  }
  const last = names.toSorted().at(-1) ?? ''
  for (const { name, checksum } of migrations) {
    const appliedChecksum = applied.get(name)
    if (appliedChecksum !== undefined && appliedChecksum !== checksum) {
      throw new StartError(
        `The migration ${name} was changed after it was applied: restore the file and add a new migration instead.`,
      )
    }
    if (!names.includes(name) && name < last) {
      throw new StartError(`The migration ${name} comes before ${last}, which is applied: give it a higher number.`)
    }
  }
  return migrations.filter(({ name }) => !names.includes(name))
}

async function apply(client: pg.ClientBase, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    throw new StartError(
      `The migration ${name} failed (${error instanceof Error ? error.message : String(error)}): ` +
        'it was rolled back; fix the cause and start again.',
    )
  }
  await client.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [name, checksum])
}
