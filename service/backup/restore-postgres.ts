/** Restores the rows of PostgreSQL from a backup. */

import pg from 'pg'
import { endNodeEpoch } from '../../store/postgres/node-epoch.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import { BackupError } from './backup-error.ts'
import { eraseAgain } from './erased.ts'
import type { ManifestHead } from './manifest-lines.ts'
import { copyTablesIn, setSequences } from './postgres-tables.ts'

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
