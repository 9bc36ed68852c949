/**
 * Makes a backup of a service with Kafka while it runs. The order of the parts makes them consistent (docs/backup.md):
 *
 * 1. QuestDB has all records acknowledged before, and the committed offsets of the topics are noted.
 * 2. QuestDB makes a checkpoint: it has all records before these offsets, and perhaps later ones.
 * 3. An operator's command copies the files of the checkpoint, since they are on another machine.
 * 4. PostgreSQL is copied, so it has every device and station of the rows.
 *
 * After a restore, records from the offsets on are replayed from the topics, as after a kill of a forwarder.
 */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { stateKey } from '../../ingest/kafka/client/names.ts'
import type { Log } from '../../store/log.ts'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { clearTarget, prepareTarget } from './backup-folder.ts'
import { BackupError } from './backup-parts.ts'
import { Copy, digestFile, type FileEntry } from './copy.ts'
import { listDone, listDoneSince } from './erased.ts'
import { formatVersion, type ManifestHead, writeManifest } from './manifest.ts'
import { beginSnapshot, copyTablesOut, listMigrations, listSequences } from './postgres-tables.ts'
import { assertNoCheckpoint, createOpenCheckpoint, releaseCheckpoint } from './questdb-checkpoint.ts'
import { untilApplied } from './topic-offsets.ts'

export interface TopicsBackupOptions {
  /** Folder of the backup, new or empty. */
  folder: string
  postgres: pg.Client
  /** Ends of the topics at the start of the backup. */
  ends: ReadonlyMap<string, number>
  /** Number of the replica that is copied. */
  replica: number
  questdb: QuestdbHttp
  /** Copies the files of QuestDB into the folder or elsewhere while its checkpoint is held. */
  copyQuestdb(folder: string): Promise<void>
  /** Folder of secrets that the restored service needs. */
  secrets: string | undefined
  version: string
  signal: AbortSignal
  onStep: (step: string) => void
  log: Log
}

const execTimeoutMs = 120_000
const pauseMs = 500

/** Resolves to files and bytes. Rejects with a BackupError if an operator can correct the cause. */
export async function backUpTopics(options: TopicsBackupOptions): Promise<{ files: number; bytes: number }> {
  const { postgres, replica, signal, onStep } = options
  if (replica > 1) await assertInUse(postgres, replica)
  const target = prepareTarget(options.folder, undefined)
  try {
    onStep('waiting until QuestDB has all acknowledged readings')
    const ends = new Map([...options.ends].map(([topic, end]) => [stateKey(topic, replica), end]))
    const topics = await untilApplied(postgres, ends, signal)
    const doneBefore = await listDone(postgres)
    const questdbVersion = await copyQuestdb(options, join(target, 'questdb'))
    await topics.assertKept()
    onStep('PostgreSQL')
    await postgres.query(beginSnapshot)
    const eraseAgain = await listDoneSince(postgres, doneBefore)
    const { tables, files } = await copyTablesOut(postgres, target, signal)
    const { rows } = await postgres.query<{ server_version: string }>('SHOW server_version')
    const [migrations, sequences] = [await listMigrations(postgres), await listSequences(postgres)]
    await postgres.query('COMMIT')
    files.push(...copySecrets(options.secrets, target), ...(await digestQuestdb(target, signal)))
    const head: ManifestHead = {
      format: formatVersion,
      version: options.version,
      createdAt: new Date().toISOString(),
      questdb: { version: questdbVersion, days: {} },
      postgres: { version: rows[0]?.server_version ?? '', migrations, tables, sequences, eraseAgain },
      topics: topics.offsets,
    }
    writeManifest(target, { head, files })
    return { files: files.length, bytes: files.reduce((total, { bytes }) => total + bytes, 0) }
  } catch (error) {
    clearTarget(target)
    signal.throwIfAborted()
    throw error
  }
}

/** Runs while the checkpoint is held; resolves to QuestDB's version. */
export async function copyQuestdb(
  options: Pick<TopicsBackupOptions, 'questdb' | 'copyQuestdb' | 'signal' | 'onStep' | 'log'>,
  folder: string,
): Promise<string> {
  const { questdb, signal, onStep, log } = options
  const client = createQuestdbClient(questdb)
  const exec = (sql: string) => client.exec(sql, execTimeoutMs)
  let isHeld = false
  try {
    signal.throwIfAborted()
    onStep('checkpoint of QuestDB')
    await assertNoCheckpoint(exec)
    isHeld = true
    const checkpoint = await createOpenCheckpoint(exec)
    signal.throwIfAborted()
    onStep('QuestDB')
    await options.copyQuestdb(folder)
    await checkpoint.assertHeld()
    const build = String((await exec('SELECT build'))[0]?.[0] ?? '')
    return (/QuestDB (\S+?),/.exec(build)?.[1] ?? build).slice(0, 100)
  } finally {
    if (isHeld) await releaseCheckpoint(exec, log, () => sleep(pauseMs))
    client.close()
  }
}

export async function assertInUse(postgres: pg.Client, replica: number): Promise<void> {
  const text = 'SELECT lost FROM replicas WHERE number = $1'
  const [row] = (await postgres.query<{ lost: string | null }>(text, [replica])).rows
  if (row === undefined) throw new BackupError(`Nothing was ever forwarded to replica ${replica}.`)
  if (row.lost !== null) throw new BackupError(`Replica ${replica} is lost: ${row.lost}.`)
}

function copySecrets(from: string | undefined, target: string): readonly FileEntry[] {
  if (from === undefined) return []
  const copy = new Copy(target, () => undefined)
  copy.run({ kind: 'tree', from, path: 'secrets' })
  copy.sync()
  return copy.entries
}

/** Digests the files that the command has put into the folder. */
async function digestQuestdb(target: string, signal: AbortSignal): Promise<FileEntry[]> {
  const files: FileEntry[] = []
  const listed = readdirSync(target, { recursive: true, withFileTypes: true })
  for (const entry of listed) {
    const path = join(entry.parentPath, entry.name).slice(target.length + 1)
    if (!path.startsWith('questdb/') || entry.isDirectory()) continue
    if (!entry.isFile()) throw new BackupError(`${join(target, path)} is neither a file nor a folder.`)
    files.push({ path, ...digestFile(join(target, path), () => undefined) })
    await nextTurn()
    signal.throwIfAborted()
  }
  return files
}
