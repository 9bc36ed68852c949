/** Writes the tables of PostgreSQL by COPY, and restores them. */

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { endNodeEpoch } from '../../store/postgres/database-lock.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import { syncFolder } from '../../store/sync-folder.ts'
import { BackupError } from './backup-parts.ts'
import type { FileEntry } from './copy.ts'
import { eraseAgain } from './erased.ts'
import type { ManifestHead } from './manifest.ts'

type Table = ManifestHead['postgres']['tables'][number]
type Sequence = ManifestHead['postgres']['sequences'][number]

/** The runner of migrations writes this one. */
const migrationsTable = 'schema_migrations'
/** Tables of running nodes: after a restore there are no nodes, and the feed of changes starts empty. */
const tablesOfNodes = ['feed_head', 'feed', 'nodes', 'hourly_view']

/** Texts of times and numbers that are independent of the server. */
export const beginSnapshot = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL datestyle = 'ISO'; SET LOCAL timezone = 'UTC'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'`

const pathOf = ({ name }: Table) => `postgres/${name}`
const quoted = (name: string) => `"${name}"`
const copied = ({ name, columns }: Table) => `${quoted(name)} (${columns.map(quoted).join(', ')})`

/** Lists all tables with their stored columns, referenced tables first. */
async function listTables(client: pg.ClientBase): Promise<Omit<Table, 'rows'>[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; needs: string[] }>(
    `SELECT relname AS name,
       ARRAY(SELECT attname::text FROM pg_attribute
             WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum) AS columns,
       ARRAY(SELECT DISTINCT r.relname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid
             WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid) AS needs
     FROM pg_class c WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> ALL($1::text[])
     ORDER BY relname`,
    [[migrationsTable, ...tablesOfNodes]],
  )
  const sorted: Omit<Table, 'rows'>[] = []
  const isThere = (name: string) => sorted.some(table => table.name === name)
  for (let waiting = rows; waiting.length > 0; ) {
    const next = waiting.filter(({ needs }) => needs.every(isThere))
    if (next.length === 0) throw new Error('the tables refer to each other in a circle')
    sorted.push(...next.map(({ name, columns }) => ({ name, columns })))
    waiting = waiting.filter(table => !next.includes(table))
  }
  return sorted
}

export async function listMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${migrationsTable} ORDER BY name`)
  return rows.map(({ name }) => name)
}

export async function listSequences(client: pg.ClientBase): Promise<Sequence[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT sequencename AS name FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1',
  )
  const sequences: Sequence[] = []
  for (const { name } of rows) {
    const text = `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${quoted(name)}`
    const { rows } = await client.query<Omit<Sequence, 'name'>>(text)
    const [state] = rows
    if (state !== undefined) sequences.push({ name, ...state })
  }
  return sequences
}

/** Writes the rows of all tables to files below the folder, durably. */
export async function copyTablesOut(
  client: pg.ClientBase,
  folder: string,
  signal: AbortSignal,
): Promise<{ tables: Table[]; files: FileEntry[] }> {
  await mkdir(join(folder, 'postgres'), { mode: 0o700 })
  const tables: Table[] = []
  const files: FileEntry[] = []
  for (const listed of await listTables(client)) {
    const table = { ...listed, rows: 0 }
    const hash = createHash('sha256')
    let bytes = 0
    const measure = new Transform({
      transform(piece: Buffer, _encoding, done) {
        hash.update(piece)
        bytes += piece.length
        done(null, piece)
      },
    })
    const path = pathOf(table)
    const file = createWriteStream(join(folder, path), { flags: 'wx', mode: 0o600, flush: true })
    const rows = client.query(copyTo(`COPY ${copied(table)} TO STDOUT`))
    await pipeline(rows, measure, file, { signal })
    tables.push({ ...table, rows: rows.rowCount })
    files.push({ path, bytes, sha256: hash.digest('hex') })
  }
  syncFolder(join(folder, 'postgres'))
  return { tables, files }
}

/** Replaces the rows of all tables, in the transaction of the client. */
async function copyTablesIn(client: pg.ClientBase, folder: string, tables: readonly Table[]): Promise<void> {
  const present = new Map((await listTables(client)).map(table => [table.name, table]))
  const order = [...present.keys()]
  const sorted = tables.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
  const names = sorted.map(({ name }) => quoted(name)).join(', ')
  const isSame = sorted.every(({ name, columns }) => present.get(name)?.columns.join() === columns.join())
  if (!isSame || present.size !== sorted.length)
    throw new BackupError('The tables of the backup differ from its migrations.')
  for (const { name } of sorted) await client.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`)
  await client.query(`TRUNCATE ${names}`)
  for (const table of sorted) {
    const rows = client.query(copyFrom(`COPY ${copied(table)} FROM STDIN`))
    await pipeline(createReadStream(join(folder, pathOf(table))), rows)
    await assertRows(client, table)
  }
  for (const { name } of sorted) await client.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`)
}

async function assertRows(client: pg.ClientBase, { name, rows: wanted }: Table): Promise<void> {
  const { rows } = await client.query<{ count: number }>(`SELECT count(*)::float8 AS count FROM ${quoted(name)}`)
  const count = rows[0]?.count
  if (count !== wanted) throw new BackupError(`The table ${name} has ${count} rows, and had ${wanted} in the backup.`)
}

async function setSequences(client: pg.ClientBase, sequences: readonly Sequence[]): Promise<void> {
  for (const { name, value, isCalled } of sequences) {
    await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [quoted(name), value, isCalled])
  }
}

/** Converts faults of the backup or the machine to a sentence. Bugs stay unchanged. */
export function refusalOf(error: unknown): unknown {
  const isOfDatabase = error instanceof pg.DatabaseError || error instanceof QuestdbError
  const isOfSystem = error instanceof Error && 'syscall' in error
  return isOfDatabase || isOfSystem ? new BackupError(`The backup cannot be restored (${error.message}).`) : error
}

/** An external database may have other data. */
export async function assertEmptyDatabase(databaseUrl: string | undefined): Promise<void> {
  if (databaseUrl === undefined) return
  const client = makeClient({ connectionString: databaseUrl })
  try {
    await client.connect()
    const { rows } = await client.query('SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1')
    if (rows.length === 0) return
    throw new BackupError('The database at DATABASE_URL has tables: empty it, or give another one.')
  } catch (error) {
    if (error instanceof BackupError) throw error
    throw new BackupError(`The database at DATABASE_URL cannot be used (${(error as Error).message}).`)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Replaces the rows of all tables and runs `more` in the same transaction. */
export async function fillPostgres(
  connect: () => Promise<pg.Client>,
  folder: string,
  postgres: ManifestHead['postgres'],
  more: (client: pg.Client) => Promise<void> = async () => undefined,
): Promise<void> {
  const client = await connect()
  try {
    await client.query('BEGIN')
    await copyTablesIn(client, folder, postgres.tables)
    await setSequences(client, postgres.sequences)
    await eraseAgain(client, postgres.eraseAgain)
    await more(client)
    await client.query('COMMIT')
    await endNodeEpoch(client)
    await client.query('ANALYZE')
  } finally {
    await client.end().catch(() => undefined)
  }
}
