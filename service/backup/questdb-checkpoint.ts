/**
 * QuestDB's checkpoint mode: between CREATE and RELEASE the files of its tables, as of CREATE, stay where they are, while
 * it goes on to take rows. A QuestDB that ended in it starts without it.
 */

import type { Log } from '../../store/log.ts'
import { BackupError } from './backup-error.ts'
import { type DaySums, type Exec, listSummedTables, type OpenDaySums, untilApplied } from './day-sums.ts'

export interface Checkpoint {
  /** What the tables hold as of the checkpoint; computed while they take rows again. */
  readDays(): Promise<Record<string, DaySums[]>>
  /** Throws when QuestDB has left the mode by itself since, as after a crash. */
  assertHeld(): Promise<void>
}

const attemptsMax = 5

type OpenSums = (table: string) => Promise<OpenDaySums>

/** While nothing is being sent to the tables; erase jobs may write all the same, and then it is made anew. */
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

/** One that is held is somebody's, who would lose it with ours. */
export async function assertNoCheckpoint(exec: Exec): Promise<void> {
  if ((await readStart(exec)) === '') return
  throw new BackupError('QuestDB holds a checkpoint: wait until that backup has ended, or CHECKPOINT RELEASE it.')
}

/** The same while rows come: what is applied before is in it, and perhaps more. */
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

/** Until QuestDB is not in the mode, whatever happens to it: it would never remove an old file again. */
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

/** When the checkpoint was made; empty when there is none. */
async function readStart(exec: Exec): Promise<string> {
  const [row] = await exec('SELECT in_progress, started_at FROM checkpoint_status()')
  return row?.[0] === true ? String(row[1]) : ''
}
