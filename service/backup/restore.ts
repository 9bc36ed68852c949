/** Restores a backup into an empty data directory, and starts the databases once to verify it. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beginRestore, type DataDirectory } from '../../store/data-directory.ts'
import { stopPostgresLeftBehind } from '../../store/postgres/postgres-server.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { questdbRoot, stopQuestdbLeftBehind } from '../../store/questdb/questdb-server.ts'
import { StartError } from '../../store/start-error.ts'
import { openStore, type Store } from '../../store/store.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import { checkBackup, checkContent } from './backup-folder.ts'
import { BackupError } from './backup-parts.ts'
import { Copy } from './copy.ts'
import { type Exec, listSummedTables, openDaySums, untilApplied } from './day-sums.ts'
import type { Manifest, ManifestHead } from './manifest.ts'
import { assertEmptyDatabase, fillPostgres, refusalOf } from './postgres-tables.ts'

export interface RestoreOptions {
  folder: string
  dataDirectory: string
  version: string
  store: Omit<StoreOptions, 'directory' | 'lastMigration' | 'migrationsFolder' | 'lock'>
  onStep: (step: string) => void
}

export interface Restored {
  createdAt: string
  files: number
  bytes: number
  rows: Record<string, number>
}

const execTimeoutMs = 120_000
const pauseMs = 100

/**
 * Rejects with a BackupError and leaves nothing in the data directory, or with a StartError and leaves its files with
 * the logs of the databases. Such files, and files of a killed restore, are marked, so that no service starts in them
 * and the next restore starts over.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { folder, version, onStep } = options
  if (options.store.questdbHttp !== undefined) {
    throw new BackupError('QUESTDB_HTTP is set, and a backup is of a managed QuestDB: unset it for the restore.')
  }
  onStep('checking the backup')
  const manifest = checkBackup(folder, version, () => undefined)
  if (manifest.head.topics !== undefined) {
    throw new BackupError('The backup is of replicas, which Kafka has the journals of: see barograph replicas restore.')
  }
  await assertEmptyDatabase(options.store.databaseUrl)
  const { directory, clear, finish, abandon } = beginRestore(options.dataDirectory)
  try {
    // Processes of an interrupted restore.
    await stopPostgresLeftBehind(directory, options.store.log)
    await stopQuestdbLeftBehind(directory, options.store.log)
    clear()
    onStep('copying')
    copyFiles(folder, directory, manifest)
    onStep('starting the databases')
    await fillAndCheck(options, directory, manifest.head)
    finish()
    directory.close()
  } catch (error) {
    if (error instanceof StartError) directory.close()
    else abandon()
    throw refusalOf(error)
  }
  const { head, files } = manifest
  const rows = Object.fromEntries(Object.entries(head.questdb.days).map(([name, days]) => [name, countOf(days)]))
  return {
    createdAt: head.createdAt,
    files: files.length,
    bytes: files.reduce((total, { bytes }) => total + bytes, 0),
    rows,
  }
}

/** Copies all but the rows of PostgreSQL and compares the files with the manifest again. */
function copyFiles(folder: string, directory: DataDirectory, { files }: Manifest): void {
  const root = questdbRoot(directory)
  const copy = new Copy(directory.path, () => undefined)
  const questdb = new Copy(root, () => undefined)
  for (const file of files) {
    if (file.path.startsWith('postgres/')) continue
    const isQuestdb = file.path.startsWith('questdb/')
    const target = isQuestdb ? questdb : copy
    const path = isQuestdb ? file.path.slice('questdb/'.length) : file.path
    const from = join(folder, file.path)
    target.run({ kind: 'file', from, path, bytesMax: Number.POSITIVE_INFINITY, isOptional: false })
    checkContent(folder, file.path, file, target.entries.at(-1) ?? { bytes: 0, sha256: '' })
  }
  // QuestDB restores its checkpoint when it finds this file, and removes it.
  writeFileSync(join(root, '_restore'), '', { flush: true })
  for (const made of [copy, questdb]) made.sync()
}

async function fillAndCheck(
  { folder, store: options, onStep }: RestoreOptions,
  directory: DataDirectory,
  head: ManifestHead,
) {
  const lastMigration = head.postgres.migrations.at(-1)
  // The lock keeps services from using the external database during the restore.
  const lock = { mode: 'exclusive', onLost: () => undefined } as const
  const store = await openStore({ ...options, directory, lastMigration, lock })
  try {
    onStep('PostgreSQL')
    await fillPostgres(store.connectPostgres, folder, head.postgres)
    onStep('QuestDB')
    await store.questdb.ready
    await checkQuestdb(store, head.questdb)
  } finally {
    await store.close()
  }
}

async function checkQuestdb(store: Store, { days: wanted }: ManifestHead['questdb']): Promise<void> {
  const questdb = createQuestdbClient(store.questdb.address.http)
  const exec: Exec = sql => questdb.exec(sql, execTimeoutMs)
  try {
    await untilApplied(exec, () => sleep(pauseMs))
    const tables = await listSummedTables(exec)
    for (const table of new Set([...Object.keys(wanted), ...tables])) {
      const found = tables.includes(table) ? await (await openDaySums(store.questdb.address.pg, table)).read() : []
      const differing = firstDifference(wanted[table] ?? [], found)
      if (differing !== undefined) throw new BackupError(`The table ${table} differs from the backup at ${differing}.`)
    }
  } finally {
    questdb.close()
  }
}

function firstDifference(wanted: readonly (readonly unknown[])[], found: readonly (readonly unknown[])[]) {
  const length = Math.max(wanted.length, found.length)
  for (let at = 0; at < length; at++) {
    if (wanted[at]?.join() !== found[at]?.join()) return String(wanted[at]?.[0] ?? found[at]?.[0])
  }
  return undefined
}

function countOf(days: readonly (readonly (string | null)[])[]): number {
  return days.reduce((total, [, count]) => total + Number(count), 0)
}
