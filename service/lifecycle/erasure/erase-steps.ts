/**
 * The steps of an erase, in an order in which it may stop anywhere and begin again: first nothing of the series can come
 * to QuestDB any more, then what is there goes, then the journal lets its bytes go.
 */

import type { Ingest, PointsIngest } from '../../../ingest/ingest.ts'
import { erasedCustom } from '../../../ingest/journal/record.ts'
import type { ErasedRecords } from '../../../ingest/write-path.ts'
import type { Log } from '../../../store/log.ts'
import { type Exec, untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { expiredHoursTable, expiredSeriesHoursTable } from '../../../store/tables.ts'
import type { SharedLock } from '../retention/shared-lock.ts'
import { atEachInUse, createReplicaErasure, type ErasedReplica } from './erase-in-replica.ts'
import type { ErasedRows, ErasedSeries, EraseJob } from './erase-records.ts'
import { countRows, erasedTables } from './erase-rows.ts'
import { createUntilUp } from './until-up.ts'

/** What an erase needs of the write path of its table. */
type ErasingIngest = Pick<Ingest | PointsIngest, 'status' | 'erase' | 'onLost' | 'files'>

/** By the table of their journals. */
type ErasingPaths = Record<'readings' | 'points', ErasingIngest>

export interface EraseStepsOptions {
  ingest: ErasingPaths
  /** Each has all rows. */
  replicas: readonly ErasedReplica[]
  log: Log
  /** Rejects when the signal is raised. */
  pause: (ms: number) => Promise<void>
  signal: AbortSignal
  /** Resolves when no node takes anything more of what was removed. */
  settle: () => Promise<void>
  /** Keeps how many values a job has to erase; gives how many it had at first. */
  noteValues: (id: number, values: number) => Promise<number>
  /** Keeps what a job waits for; null for nothing any more. */
  noteDelay?: (job: EraseJob, reason: string | null) => Promise<void>
  /**
   * Runs work during which the hours of no day are kept: they would have those of a device that is just being erased. Without it
   * no readings expire.
   */
  whileNoDayExpires?: SharedLock['shared'] | undefined
  /** Where names are copied to the QuestDB of a replica: resolves when none of a removed device can come there any more. */
  syncNames?: ((replica: number) => Promise<void>) | undefined
  /** Whoever keeps values by series in memory: none of these come any more. */
  forgetSeries?: ((numbers: readonly number[]) => Promise<void>) | undefined
}

export interface EraseSteps {
  /**
   * For devices, a metric of a device or a station that are removed. Gives `rows` of the report, and the names of damaged dead
   * letters, which may have values of them.
   */
  erase(job: EraseJob): Promise<{ rows: number; damaged: string[] }>
  /** Erases what has come back after all. */
  eraseAgain(rowsOf: ErasedRows, series: ErasedSeries): Promise<void>
  /** Resolves when the QuestDB of each replica answers. */
  untilQuestdbIsUp(): Promise<void>
}

const pauseMs = 100

export function createEraseSteps(options: EraseStepsOptions): EraseSteps {
  const { replicas, pause, signal, whileNoDayExpires = work => work(), syncNames } = options
  const { eraseKeys, eraseSeries, eraseReappeared } = createReplicaErasure(options)
  const { untilUp, noteAway } = createUntilUp(options)

  async function erase(job: EraseJob): Promise<{ rows: number; damaged: string[] }> {
    const { rowsOf, numbers } = job
    // Who asked for it may have ended before this was so.
    await options.settle()
    const { before, damaged } = await stopRecords(job)
    if (rowsOf !== 'measurements') {
      const rows = await atEachInUse(replicas, replica => eraseBefore(replica, job, before))
      return { rows: Math.max(0, ...rows), damaged }
    }
    await options.forgetSeries?.(numbers)
    const rows = await countValues(job)
    await atEachInUse(replicas, replica => eraseBefore(replica, job, before))
    return { rows, damaged }
  }

  /** `end`: the position in the journal that all records of the series stand before. */
  async function eraseBefore(replica: ErasedReplica, job: EraseJob, end: number): Promise<number> {
    await untilUp(replica, job)
    if (job.rowsOf !== 'points') await syncNames?.(replica.number)
    const rows = await whileNoDayExpires(async () => {
      await untilNoHoursAreKept(replica.exec, () => pause(pauseMs))
      const [table, ...others] = await erasedTables(replica.exec, job.rowsOf)
      const erased = await eraseKeys(replica, table, table.keysOf(job))
      for (const other of others) await eraseSeries(replica, other, job)
      return erased
    })
    await untilJournalIsBehind(job.rowsOf, end)
    return rows
  }

  /** Before the first replica is erased. */
  async function countValues(job: EraseJob): Promise<number> {
    const present = await atEachInUse(replicas, async replica => {
      await untilUp(replica, job)
      const { exec } = replica
      const [table] = await erasedTables(exec, job.rowsOf)
      await untilTableApplied(exec, table.name, () => pause(pauseMs))
      return (await countRows(exec, table, table.keysOf(job))).present
    })
    return await options.noteValues(job.id, Math.max(0, ...present))
  }

  /** Nothing of the series comes to a QuestDB from now on. */
  async function stopRecords(job: EraseJob): Promise<ErasedRecords> {
    const { rowsOf, numbers } = job
    const path = options.ingest[rowsOf === 'points' ? 'points' : 'readings']
    const keys = rowsOf === 'measurements' ? numbers.map(erasedCustom) : numbers
    // What is in flight there has to be answered.
    await noteAway(job)
    return await unlessAborted(path.erase(keys), signal)
  }

  /**
   * For a QuestDB that does not sync the journal keeps its bytes for hours, and the erased rows are passed over; a topic keeps them
   * for its retention.
   */
  async function untilJournalIsBehind(rowsOf: ErasedRows, end: number): Promise<void> {
    const { files, status } = options.ingest[rowsOf === 'points' ? 'points' : 'readings']
    const holds = () => {
      const { start, isSynced } = status().forwarder
      return files !== undefined && isSynced && start < end
    }
    while (holds()) await pause(pauseMs)
  }

  return {
    erase,
    async untilQuestdbIsUp() {
      await atEachInUse(replicas, replica => untilUp(replica))
    },
    async eraseAgain(rowsOf, series) {
      await atEachInUse(replicas, replica =>
        whileNoDayExpires(async () => {
          await untilNoHoursAreKept(replica.exec, () => pause(pauseMs))
          for (const table of await erasedTables(replica.exec, rowsOf)) {
            await eraseReappeared(replica, table, rowsOf, series)
          }
        }),
      )
    },
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/*
 * Hours of expired days that a statement still keeps. A process that is killed, or leads no more, leaves statements in QuestDB, which ends
 * them whether or not anybody waits: hours of what is erased meanwhile would come behind the erase.
 */

const conditions = [expiredHoursTable, expiredSeriesHoursTable].map(table => `query LIKE 'INSERT INTO ${table} %'`)
const runningSql = `SELECT count() FROM query_activity() WHERE ${conditions.join(' OR ')}`

/** Resolves when QuestDB has ended all of them; its own time limit for a statement bounds that. */
export async function untilNoHoursAreKept(exec: Exec, pause: () => Promise<void>): Promise<void> {
  for (;;) {
    const [running] = await exec(runningSql)
    if (Number(running?.[0]) === 0) return
    await pause()
  }
}
