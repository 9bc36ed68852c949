/**
 * Makes a backup of the running service. The order of the parts makes them consistent (docs/backup.md):
 *
 * 1. The forwarders are paused, and QuestDB makes a checkpoint with all rows that they have sent.
 * 2. The journals are copied up to their present ends: they have all acknowledged rows that QuestDB lacks.
 * 3. The forwarders resume, and QuestDB's files of the checkpoint are copied.
 * 4. PostgreSQL is copied, so it has every device and station of the rows.
 */

import { join } from 'node:path'
import type pg from 'pg'
import { clearTarget, prepareTarget } from './backup-folder.ts'
import { BackupError, type BackupParts, type BackupRun } from './backup-parts.ts'
import { createCopier } from './copier.ts'
import { digestFile, type FileEntry } from './copy.ts'
import { type CopiedRows, copyRows, journalFolders } from './copy-rows.ts'
import { listDone, listDoneSince, type RowsOf, writeTombstones } from './erased.ts'
import { formatVersion, type ManifestHead, writeManifest } from './manifest.ts'
import { beginSnapshot, copyTablesOut, listMigrations, listSequences } from './postgres-tables.ts'

export interface BackupResult {
  files: number
  bytes: number
  /** Rows of the tables in QuestDB, without rows that are only in the journals. */
  rows: Record<string, number>
}

/** Rejects with a BackupError if an operator can correct the cause. A failed backup leaves no files. */
export async function backUp(path: string, parts: BackupParts, run: BackupRun): Promise<BackupResult> {
  const { questdb } = parts.store
  if (Object.values(parts.ingest).some(({ files }) => files === undefined)) {
    throw new BackupError(
      'The journals are topics of Kafka (KAFKA_BROKERS): use barograph replicas backup (docs/backup.md).',
    )
  }
  if (!questdb.managed) {
    throw new BackupError('QuestDB is an external one (QUESTDB_HTTP): its files are not here, so back up its server.')
  }
  if (questdb.state().state !== 'up') throw new BackupError('QuestDB is not up: see barograph status.')
  const target = prepareTarget(path, parts.directory.path)
  try {
    return await copyAll(target, parts, run)
  } catch (error) {
    clearTarget(target)
    run.signal.throwIfAborted()
    throw error
  }
}

async function copyAll(target: string, parts: BackupParts, run: BackupRun): Promise<BackupResult> {
  const copier = createCopier({ target, leaveBytes: 2 * parts.reserveBytes, signal: run.signal, bytes: run.bytes })
  const postgres = await parts.store.connectPostgres()
  // Closing the connection aborts a running statement.
  const disconnect = () => void postgres.end().catch(() => undefined)
  run.signal.addEventListener('abort', disconnect, { once: true })
  try {
    const doneBefore = await listDone(postgres)
    const rows = await copyRows(parts, run, copier)
    run.onStep('PostgreSQL')
    const { head, files } = await copyPostgres(target, postgres, doneBefore, rows, run.signal)
    run.onStep('secrets')
    const secrets = await copier.copy([{ kind: 'tree', from: parts.directory.secrets, path: 'secrets' }])
    run.signal.throwIfAborted()
    return finish(target, parts, rows.days, head, [...rows.files, ...files, ...secrets])
  } finally {
    run.signal.removeEventListener('abort', disconnect)
    disconnect()
  }
}

async function copyPostgres(
  target: string,
  client: pg.Client,
  doneBefore: readonly number[],
  { ends }: CopiedRows,
  signal: AbortSignal,
): Promise<{ head: Omit<ManifestHead['postgres'], 'version'>; files: FileEntry[] }> {
  await client.query(beginSnapshot)
  const eraseAgain = await listDoneSince(client, doneBefore)
  const tombstones: FileEntry[] = []
  for (const rowsOf of ['readings', 'points'] as const satisfies RowsOf[]) {
    const path = await writeTombstones(client, join(target, journalFolders[rowsOf]), rowsOf, ends[rowsOf])
    const below = path && `${journalFolders[rowsOf]}/${path}`
    if (below !== undefined) tombstones.push({ path: below, ...digestFile(join(target, below), () => undefined) })
  }
  const { tables, files } = await copyTablesOut(client, target, signal)
  const migrations = await listMigrations(client)
  const sequences = await listSequences(client)
  await client.query('COMMIT')
  return { head: { migrations, tables, sequences, eraseAgain }, files: [...tombstones, ...files] }
}

function finish(
  target: string,
  { store, version }: BackupParts,
  days: CopiedRows['days'],
  postgres: Omit<ManifestHead['postgres'], 'version'>,
  files: FileEntry[],
): BackupResult {
  const versions = store.versions()
  writeManifest(target, {
    head: {
      format: formatVersion,
      version,
      createdAt: new Date().toISOString(),
      questdb: { version: versions.questdb ?? '', days },
      postgres: { version: versions.postgres, ...postgres },
    },
    files,
  })
  const counts = Object.entries(days).map(([table, sums]) => {
    return [table, sums.reduce((total, [, count]) => total + Number(count), 0)] as const
  })
  const bytes = files.reduce((total, file) => total + file.bytes, 0)
  return { files: files.length, bytes, rows: Object.fromEntries(counts) }
}
