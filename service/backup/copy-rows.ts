/** Copies the journals and QuestDB consistently. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDisk } from '../../ingest/journal/disk.ts'
import { filesBesideSegments, type JournalFile, segmentsAndStamps } from '../../ingest/journal/segments.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { BackupError, type BackupParts, type BackupRun } from './backup-parts.ts'
import type { Copier } from './copier.ts'
import type { CopyStep, FileEntry } from './copy.ts'
import { type DaySums, type Exec, openDaySums } from './day-sums.ts'
import type { RowsOf } from './erased.ts'
import { type Checkpoint, createCheckpoint, releaseCheckpoint } from './questdb-checkpoint.ts'

export interface CopiedRows {
  files: FileEntry[]
  /** Sums of the copied QuestDB's tables. */
  days: Record<string, DaySums[]>
  /** End positions of the copied journals. */
  ends: Record<RowsOf, number>
}

export const journalFolders: Record<RowsOf, 'journal' | 'points-journal'> = {
  readings: 'journal',
  points: 'points-journal',
}
const rowKinds = ['readings', 'points'] as const satisfies RowsOf[]

const execTimeoutMs = 120_000
const pauseMs = 100
/** QuestDB applies sent rows within seconds unless it has a fault. */
const holdMsMax = 60_000

export async function copyRows(parts: BackupParts, run: BackupRun, copier: Copier): Promise<CopiedRows> {
  const { address } = parts.store.questdb
  const questdb = createQuestdbClient(address.http)
  const exec: Exec = sql => questdb.exec(sql, execTimeoutMs)
  const pause = (signal: AbortSignal) => () => sleep(pauseMs, undefined, { signal, ref: false })
  const ended = new AbortController()
  const openSums = (table: string) => openDaySums(address.pg, table, AbortSignal.any([run.signal, ended.signal]))
  const makeCheckpoint = () => createCheckpoint(exec, openSums, pause(run.signal))
  try {
    const { checkpoint, journals } = await copyHeld(parts, run, copier, makeCheckpoint)
    run.onStep('sums')
    const days = await checkpoint.readDays()
    run.onStep('QuestDB')
    const root = questdbRoot(parts.directory)
    const trees = ['db', '.checkpoint'].map(
      (name): CopyStep => ({ kind: 'tree', from: join(root, name), path: `questdb/${name}` }),
    )
    const files = await copier.copy(trees)
    await checkpoint.assertHeld()
    return { files: [...journals.files, ...files], days, ends: journals.ends }
  } finally {
    ended.abort()
    await releaseCheckpoint(exec, parts.log, pause(run.closing)).catch(() => undefined)
    questdb.close()
  }
}

/** Makes the checkpoint and copies the journals while forwarding is paused. */
async function copyHeld(
  { directory, ingest }: BackupParts,
  run: BackupRun,
  copier: Copier,
  makeCheckpoint: () => Promise<Checkpoint>,
): Promise<{ checkpoint: Checkpoint; journals: Pick<CopiedRows, 'files' | 'ends'> }> {
  run.onStep('journals')
  const sources: Record<RowsOf, string> = { readings: directory.journal, points: directory.pointsJournal }
  const ends: Record<RowsOf, number> = { readings: 0, points: 0 }
  const files: FileEntry[] = []
  try {
    await within(Promise.all(rowKinds.map(rowsOf => ingest[rowsOf].files?.hold())), run.signal)
    const checkpoint = await makeCheckpoint()
    for (const rowsOf of rowKinds) {
      const disk = openDisk(sources[rowsOf])
      const steps = (journalFiles: JournalFile[]) => journalFiles.map(file => stepOf(file, sources[rowsOf], rowsOf))
      files.push(...(await copier.copy(steps(filesBesideSegments(disk)))))
      ends[rowsOf] = ingest[rowsOf].status().journal.end
      files.push(...(await copier.copy(steps(segmentsAndStamps(disk, ends[rowsOf])))))
    }
    return { checkpoint, journals: { files, ends } }
  } finally {
    for (const rowsOf of rowKinds) ingest[rowsOf].files?.release()
  }
}

function stepOf({ name, bytesMax, isOptional }: JournalFile, source: string, rowsOf: RowsOf): CopyStep {
  return { kind: 'file', from: join(source, name), path: `${journalFolders[rowsOf]}/${name}`, bytesMax, isOptional }
}

async function within(held: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(holdMsMax)])
  const tooLate = new BackupError('QuestDB did not apply accepted rows within a minute: see barograph status.')
  await Promise.race([
    held,
    new Promise((_resolve, reject) => {
      limit.addEventListener('abort', () => reject(signal.aborted ? signal.reason : tooLate), { once: true })
    }),
  ])
}
