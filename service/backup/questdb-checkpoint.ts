/**
 * Holds QuestDB's checkpoint mode: between CREATE and RELEASE the files of its tables, as of CREATE, stay in place,
 * while it continues to accept rows. A restart ends the mode.
 */

import type { Log } from '../../store/log.ts'
import { BackupError } from './backup-parts.ts'
import { type DaySums, type Exec, listSummedTables, type OpenDaySums, untilApplied } from './day-sums.ts'

export interface Checkpoint {
  /** Sums of the tables as of the checkpoint, computed while they accept rows again. */
  readDays(): Promise<Record<string, DaySums[]>>
  /** Throws if QuestDB has left the mode since, for example by a crash. */
  assertHeld(): Promise<void>
}

const attemptsMax = 5

type OpenSums = (table: string) => Promise<OpenDaySums>

/** Forwarding has to be paused. Erase jobs may still write, after which the checkpoint is repeated. */
export async function createCheckpoint(
  exec: Exec,
  openSums: OpenSums,
  pause: () => Promise<void>,
): Promise<Checkpoint> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const before = await untilApplied(exec, pause)
    await exec('CHECKPOINT CREATE')
    const startedAt = await readStart(exec)
    const sums = new Map<string, OpenDaySums>()
    for (const table of await listSummedTables(exec)) sums.set(table, await openSums(table))
    if (before === (await untilApplied(exec, pause))) {
      return { readDays: () => readDays(sums), assertHeld: () => assertHeld(exec, startedAt) }
    }
    for (const { close } of sums.values()) await close()
    await exec('CHECKPOINT RELEASE')
  }
  throw new BackupError('The tables in QuestDB kept changing, perhaps by an erase job: try again when it has ended.')
}

/** A present checkpoint belongs to another process, which would lose it. */
export async function assertNoCheckpoint(exec: Exec): Promise<void> {
  if ((await readStart(exec)) === '') return
  throw new BackupError('QuestDB holds a checkpoint: wait until that backup has ended, or CHECKPOINT RELEASE it.')
}

/** Makes a checkpoint while rows arrive. It has all rows applied before, and may have later ones. */
export async function createOpenCheckpoint(exec: Exec): Promise<Pick<Checkpoint, 'assertHeld'>> {
  await exec('CHECKPOINT CREATE')
  const startedAt = await readStart(exec)
  return { assertHeld: () => assertHeld(exec, startedAt) }
}

async function readDays(sums: ReadonlyMap<string, OpenDaySums>): Promise<Record<string, DaySums[]>> {
  const days: Record<string, DaySums[]> = {}
  for (const [table, { read }] of sums) days[table] = await read()
  return days
}

async function assertHeld(exec: Exec, startedAt: string): Promise<void> {
  if (startedAt !== '' && (await readStart(exec)) === startedAt) return
  throw new BackupError('QuestDB was restarted while its files were copied: make the backup again.')
}

/** Retries until QuestDB has left the mode, in which it would never remove old files. */
export async function releaseCheckpoint(exec: Exec, log: Log, pause: () => Promise<void>): Promise<void> {
  for (let isLogged = false; ; await pause()) {
    try {
      if ((await readStart(exec)) === '') return
      await exec('CHECKPOINT RELEASE')
    } catch (error) {
      if (!isLogged) log.warn({ err: error }, 'cannot release the checkpoint of QuestDB, retrying')
      isLogged = true
    }
  }
}

/** Time of the checkpoint; empty without one. */
async function readStart(exec: Exec): Promise<string> {
  const [row] = await exec('SELECT in_progress, started_at FROM checkpoint_status()')
  return row?.[0] === true ? String(row[1]) : ''
}
