/**
 * The steps of an erase, in an order in which it may stop anywhere and begin again: first nothing of the series can come
 * to QuestDB any more, then what is there goes, then the journal lets its bytes go.
 */

import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import { erasedFurther } from '../../ingest/journal/record.ts'
import type { ErasedRecords } from '../../ingest/write-path.ts'
import type { Log } from '../../store/log.ts'
import { atEachReplica } from '../../store/questdb/questdb-replicas.ts'
import { untilTableApplied } from '../../store/questdb/until-applied.ts'
import type { SharedLock } from '../retention/shared-lock.ts'
import { createReplicaErasure, type ErasedReplica, replicasWith } from './erase-in-replica.ts'
import type { ErasedRows, ErasedSeries, EraseJob } from './erase-records.ts'
import { countRows, erasedTables } from './erase-rows.ts'
import { untilNoHoursAreKept } from './kept-hours.ts'
import { createUntilUp } from './until-up.ts'

/** What an erase needs of the write path of its table. */
type ErasingIngest = Pick<Ingest | PointsIngest, 'status' | 'erase' | 'onLost' | 'files'>

/** By the table of their journals. */
type ErasingPaths = Record<'readings' | 'points', ErasingIngest>

export interface EraseStepsOptions {
  ingest: ErasingPaths
  /** Each has names of all devices; what it has no rows of it tells at once. Points are in the first one. */
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
    if (rowsOf !== 'measurements') {
      const erased = await atEachReplica(replicasWith(rowsOf, replicas), async replica => {
        const { before, damaged } = await stopRecords(replica, job)
        return { rows: await eraseBefore(replica, job, before), damaged }
      })
      return { rows: sumOf(erased.map(({ rows }) => rows)), damaged: erased.flatMap(({ damaged }) => damaged) }
    }
    const stopped = await atEachReplica(replicas, async one => ({ ...one, ...(await stopRecords(one, job)) }))
    await options.forgetSeries?.(numbers)
    const rows = await countValues(job)
    await atEachReplica(stopped, replica => eraseBefore(replica, job, replica.before))
    return { rows, damaged: stopped.flatMap(({ damaged }) => damaged) }
  }

  /** `end`: the position in the journal of the replica that all records of the series stand before. */
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

  /** In all replicas, before the first of them is erased. */
  async function countValues(job: EraseJob): Promise<number> {
    const present = await atEachReplica(replicas, async replica => {
      await untilUp(replica, job)
      const { exec } = replica
      const [table] = await erasedTables(exec, job.rowsOf)
      await untilTableApplied(exec, table.name, () => pause(pauseMs))
      return (await countRows(exec, table, table.keysOf(job))).present
    })
    return await options.noteValues(job.id, sumOf(present))
  }

  /** Nothing of the series comes to the QuestDB from now on. */
  async function stopRecords({ ingest }: ErasedReplica, job: EraseJob): Promise<ErasedRecords> {
    const { rowsOf, numbers } = job
    const path = rowsOf === 'points' ? options.ingest.points : (ingest ?? options.ingest.readings)
    const keys = rowsOf === 'measurements' ? numbers.map(erasedFurther) : numbers
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
      for (const replica of replicas) await untilUp(replica)
    },
    async eraseAgain(rowsOf, series) {
      await atEachReplica(replicasWith(rowsOf, replicas), replica =>
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

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
