/** Restores PostgreSQL's rows from a backup with Kafka. The operator puts QuestDB's files in place. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { migrate, migrationsFolder } from '../../store/postgres/migrations.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { checkBackup } from './backup-folder.ts'
import { BackupError } from './backup-parts.ts'
import type { ManifestHead } from './manifest.ts'
import { assertEmptyDatabase, fillPostgres, refusalOf } from './postgres-tables.ts'

export interface TopicsRestoreOptions {
  folder: string
  databaseUrl: string
  version: string
  onStep: (step: string) => void
  log: Log
}

export interface RestoredTopics {
  createdAt: string
  files: number
  bytes: number
  /** Offsets at which the replay of each topic begins. */
  topics: NonNullable<ManifestHead['topics']>
}

/** Rejects with a BackupError or a StartError. Then only the schema of the database has changed. */
export async function restoreTopics(options: TopicsRestoreOptions): Promise<RestoredTopics> {
  const { folder, databaseUrl, onStep } = options
  onStep('checking the backup')
  const { head, files } = checkBackup(folder, options.version, () => undefined)
  const { topics } = head
  if (topics === undefined) {
    throw new BackupError('The backup is of a service with a journal on disk: see barograph restore.')
  }
  await assertEmptyDatabase(databaseUrl)
  onStep('PostgreSQL')
  try {
    await fill(options, head, topics)
  } catch (error) {
    throw refusalOf(error)
  }
  return {
    createdAt: head.createdAt,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    topics,
  }
}

async function fill(
  { folder, databaseUrl, log }: TopicsRestoreOptions,
  { postgres }: ManifestHead,
  topics: RestoredTopics['topics'],
): Promise<void> {
  const connect = async () => {
    const client = makeClient({ connectionString: databaseUrl })
    await client.connect()
    return client
  }
  const client = await connect()
  try {
    const last = postgres.migrations.at(-1)
    await migrate(client, migrationsFolder, log, last === undefined ? {} : { last })
  } finally {
    await client.end()
  }
  await fillPostgres(connect, folder, postgres, async client => {
    await setOffsets(client, topics)
    await leaveOutNumbers(client)
  })
}

async function setOffsets(client: pg.Client, topics: RestoredTopics['topics']): Promise<void> {
  // A forwarder's status from after the copy describes rows that the copied QuestDB lacks.
  const text = 'UPDATE replica_topics SET committed_offset = $2, rewind_to = NULL, status = NULL WHERE topic = $1'
  for (const { name, offset } of topics) await client.query(text, [name, offset])
  await client.query('UPDATE replicas SET holder = NULL')
  const [copied = 1] = topics.map(({ name }) => Number(name.split('@')[1] ?? 1))
  const lost = "UPDATE replicas SET lost = 'the service was restored from a backup' WHERE number <> $1"
  await client.query(lost, [copied])
}

/**
 * The topics may have records of devices, metrics and stations that were made after the copy. Their numbers must not be
 * reused, so these many are skipped. Series of stations have 2^21 numbers in total.
 */
const numbersLeftOut = { devices: 10_000, metricSeries: 100_000, stationSeries: 10_000 }

async function leaveOutNumbers(client: pg.Client): Promise<void> {
  const sequences = [
    ["pg_get_serial_sequence('devices', 'number')", numbersLeftOut.devices],
    ["pg_get_serial_sequence('metric_series', 'number')", numbersLeftOut.metricSeries],
    ["pg_get_serial_sequence('station_series', 'number')", numbersLeftOut.stationSeries],
  ] as const
  for (const [sequence, count] of sequences) {
    const last = `(SELECT seqmax FROM pg_sequence WHERE seqrelid = ${sequence}::regclass)`
    await client.query(`SELECT setval(${sequence}, LEAST(nextval(${sequence}) + ${count}, ${last}))`)
  }
}
