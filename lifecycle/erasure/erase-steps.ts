/**
 * The steps of an erase, in an order in which it may stop anywhere and begin again: first nothing of the series can come
 * to QuestDB any more, then what is there goes, then the journal lets its bytes go.
 */

import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import { erasedFurther } from '../../ingest/journal/record.ts'
import type { Log } from '../../store/log.ts'
import { refreshHourlyView } from '../../store/questdb/hourly-view.ts'
import { type Exec, untilTableApplied } from '../../store/questdb/until-applied.ts'
import type { Store } from '../../store/store.ts'
import { readingsTable } from '../../store/tables.ts'
import type { SharedLock } from '../retention/shared-lock.ts'
import type { ErasedRows, ErasedSeries, EraseJob } from './erase-records.ts'
import { countRows, type ErasedTable, erasedTables, eraseRows, keysPresent } from './erase-rows.ts'

/** What an erase needs of the write path of its table. */
type ErasingIngest = Pick<Ingest | PointsIngest, 'status' | 'erase' | 'onLost' | 'files'>

/** By the table of their journals. */
type ErasingPaths = Record<'readings' | 'points', ErasingIngest>

export interface EraseStepsOptions {
  ingest: ErasingPaths
  store: Pick<Store, 'questdb'>
  log: Log
  exec: Exec
  /** Rejects when the signal is raised. */
  pause: (ms: number) => Promise<void>
  signal: AbortSignal
  /** Resolves when no node takes anything more of what was removed. */
  settle: () => Promise<void>
  /** Keeps how many values a job has to erase; gives how many it had at first. */
  noteValues: (id: number, values: number) => Promise<number>
  /**
   * Runs work during which the hours of no day are kept: they would have those of a device that is just being erased. Without it
   * no readings expire.
   */
  whileNoDayExpires?: SharedLock['shared'] | undefined
  /** Where names are copied to QuestDB: resolves when none of a removed device can come there any more. */
  syncNames?: (() => Promise<void>) | undefined
  /** Whoever keeps values by series in memory: none of these come any more. */
  forgetSeries?: ((numbers: readonly number[]) => Promise<void>) | undefined
}

export interface EraseSteps {
  /** For devices, a metric of a device or a station that are removed. Gives what the report has as `rows`. */
  erase(job: EraseJob): Promise<number>
  /** Erases what has come back after all. */
  eraseAgain(rowsOf: ErasedRows, series: ErasedSeries): Promise<void>
  untilQuestdbIsUp(): Promise<void>
}

const pauseMs = 100
/** Of the keys in one statement: it stands in a URL, and QuestDB takes headers of 64 KiB. */
const keysCharactersMax = 16_000
/** Whoever still writes after so many rounds will not stop by himself. */
const roundsMax = 10

/** The job cannot end well, so it is not tried again. */
export class EraseFailure extends Error {}

export function createEraseSteps(options: EraseStepsOptions): EraseSteps {
  const { store, log, exec, pause, signal, whileNoDayExpires = work => work(), syncNames } = options
  const pathOf = (rowsOf: ErasedRows) => options.ingest[rowsOf === 'points' ? 'points' : 'readings']

  async function erase(job: EraseJob): Promise<number> {
    const { rowsOf } = job
    const end = await stopRecords(job)
    await untilQuestdbIsUp()
    if (rowsOf !== 'points') await syncNames?.()
    const rows = await whileNoDayExpires(async () => {
      const [table, ...others] = await erasedTables(exec, rowsOf)
      const values = rowsOf === 'measurements' ? await countValues(job, table) : undefined
      const erased = await eraseKeys(table, table.keysOf(job))
      for (const other of others) {
        for (const some of inStatements(other.keysOf(job))) await eraseKeys(other, some)
      }
      return values ?? erased
    })
    await untilJournalIsBehind(rowsOf, end)
    return rows
  }

  /** Before the first of them is erased. */
  async function countValues(job: EraseJob, table: ErasedTable): Promise<number> {
    await untilTableApplied(exec, table.name, () => pause(pauseMs))
    const { present } = await countRows(exec, table, table.keysOf(job))
    return await options.noteValues(job.id, present)
  }

  /** Nothing of the series comes to QuestDB from now on; the position in the journal that all of theirs stands before. */
  async function stopRecords({ rowsOf, numbers }: EraseJob): Promise<number> {
    // Who asked for it may have ended before this was so.
    await options.settle()
    const keys = rowsOf === 'measurements' ? numbers.map(erasedFurther) : numbers
    const end = await unlessAborted(pathOf(rowsOf).erase(keys), signal)
    if (rowsOf === 'measurements') await options.forgetSeries?.(numbers)
    return end
  }

  async function eraseKeys(table: ErasedTable, keys: readonly string[]): Promise<number> {
    for (let round = 0; round < roundsMax; round++) {
      const txn = await eraseRows(exec, table, keys, () => pause(pauseMs))
      const { present, erased } = await countRows(exec, table, keys)
      if (present > 0) continue
      // It holds what the readings are no more.
      if (table.name === readingsTable) await refreshHourlyView(exec, txn, () => pause(pauseMs))
      return erased
    }
    throw new EraseFailure(`new ${table.name} kept coming in`)
  }

  async function eraseReappeared(table: ErasedTable, rowsOf: ErasedRows, series: ErasedSeries): Promise<void> {
    for (const some of inStatements(table.keysOf(series))) {
      const present = await keysPresent(exec, table, some)
      if (present.length === 0) continue
      await eraseKeys(table, present)
      log.warn({ series: present.length }, `erased ${rowsOf} reappeared in QuestDB, deleted again`)
    }
  }

  /**
   * For a QuestDB that does not sync the journal keeps its bytes for hours, and the erased rows are passed over; a topic keeps them
   * for its retention.
   */
  async function untilJournalIsBehind(rowsOf: ErasedRows, end: number): Promise<void> {
    const { files, status } = pathOf(rowsOf)
    const holds = () => {
      const { start, isSynced } = status().forwarder
      return files !== undefined && isSynced && start < end
    }
    while (holds()) await pause(pauseMs)
  }

  async function untilQuestdbIsUp(): Promise<void> {
    while (store.questdb.state().state !== 'up') await pause(pauseMs)
  }

  return {
    erase,
    untilQuestdbIsUp,
    eraseAgain: (rowsOf, series) =>
      whileNoDayExpires(async () => {
        for (const table of await erasedTables(exec, rowsOf)) await eraseReappeared(table, rowsOf, series)
      }),
  }
}

function* inStatements(keys: readonly string[]): Generator<string[]> {
  let some: string[] = []
  let characters = 0
  for (const key of keys) {
    if (characters + key.length > keysCharactersMax) {
      yield some
      some = []
      characters = 0
    }
    some.push(key)
    characters += key.length
  }
  if (some.length > 0) yield some
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
