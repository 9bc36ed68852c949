/**
 * Orders the steps of an erasure so that it can be interrupted and repeated: first no rows of the series can reach
 * QuestDB, then QuestDB's rows are erased, then the journal removes their bytes.
 */

import type { Ingest, PointsIngest } from '../../../ingest/ingest.ts'
import { erasedCustom } from '../../../ingest/journal/record.ts'
import type { ErasedRecords } from '../../../ingest/write-path.ts'
import type { Log } from '../../../store/log.ts'
import { replicaPrefix } from '../../../store/questdb/questdb-replicas.ts'
import { type Exec, untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { expiredHoursTable, expiredSeriesHoursTable } from '../../../store/tables.ts'
import type { SharedLock } from '../retention/shared-lock.ts'
import { atEachInUse, createReplicaErasure, type ErasedReplica } from './erase-in-replica.ts'
import type { ErasedRows, ErasedSeries, EraseJob } from './erase-records.ts'
import { countRows, erasedTables } from './erase-rows.ts'

/** The part of a table's write path that an erasure uses. */
type ErasingIngest = Pick<Ingest | PointsIngest, 'status' | 'erase' | 'onLost' | 'files'>

type ErasingPaths = Record<'readings' | 'points', ErasingIngest>

export interface EraseStepsOptions {
  ingest: ErasingPaths
  /** Each has all rows. */
  replicas: readonly ErasedReplica[]
  log: Log
  /** Rejects when the signal is aborted. */
  pause: (ms: number) => Promise<void>
  signal: AbortSignal
  /** Resolves when all nodes refuse rows of removed series. */
  settle: () => Promise<void>
  /** Notes the number of a job's values; returns the number at its start. */
  noteValues: (id: number, values: number) => Promise<number>
  /** Notes the reason of a job's delay; null without one. */
  noteDelay?: (job: EraseJob, reason: string | null) => Promise<void>
  /** Runs work during which no day expires: its kept hours would include series that are being erased. */
  whileNoDayExpires?: SharedLock['shared'] | undefined
  /**
   * Resolves when names of removed devices can no longer reach a replica's QuestDB; undefined if names are not copied.
   */
  syncNames?: ((replica: number) => Promise<void>) | undefined
  /** Drops values of removed series from memory. */
  forgetSeries?: ((numbers: readonly number[]) => Promise<void>) | undefined
}

export interface EraseSteps {
  /**
   * Erases removed devices, stations, or a removed metric of a device. Returns `rows` of the report, and the names of
   * damaged dead letters, which may have their values.
   */
  erase(job: EraseJob): Promise<{ rows: number; damaged: string[] }>
  /** Erases rows that have reappeared. */
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
    // The requesting process may have ended before it settled.
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

  /** All records of the series are before the journal's position `end`. */
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

  /** Runs before the first replica is erased. */
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

  /** Keeps further rows of the series from all QuestDBs. */
  async function stopRecords(job: EraseJob): Promise<ErasedRecords> {
    const { rowsOf, numbers } = job
    const path = options.ingest[rowsOf === 'points' ? 'points' : 'readings']
    const keys = rowsOf === 'measurements' ? numbers.map(erasedCustom) : numbers
    // Rows in flight there have to be answered.
    await noteAway(job)
    return await unlessAborted(path.erase(keys), signal)
  }

  /** If QuestDB does not sync, the journal keeps its bytes for hours and skips erased rows. */
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
 * Waits for statements that keep hours of expired days. A process that was killed, or leads no more, leaves statements
 * running in QuestDB: hours of series erased meanwhile would be written after the erasure.
 */

const conditions = [expiredHoursTable, expiredSeriesHoursTable].map(table => `query LIKE 'INSERT INTO ${table} %'`)
const runningSql = `SELECT count() FROM query_activity() WHERE ${conditions.join(' OR ')}`

/** Resolves when QuestDB has ended all of them, which its time limit for a statement bounds. */
export async function untilNoHoursAreKept(exec: Exec, pause: () => Promise<void>): Promise<void> {
  for (;;) {
    const [running] = await exec(runningSql)
    if (Number(running?.[0]) === 0) return
    await pause()
  }
}

interface UntilUpOptions {
  replicas: readonly ErasedReplica[]
  /** Rejects when the wait is aborted. */
  pause: (ms: number) => Promise<void>
  /** Notes the reason of a job's delay; null without one. */
  noteDelay?: (job: EraseJob, reason: string | null) => Promise<void>
}

interface UntilUp {
  /** Resolves when the QuestDB of the replica is up; rejects when the replica is lost. */
  untilUp(replica: ErasedReplica, job?: EraseJob): Promise<void>
  noteAway(job: EraseJob): Promise<void>
}

function createUntilUp({ replicas, pause, noteDelay }: UntilUpOptions): UntilUp {
  const isUp = ({ questdb }: ErasedReplica) => questdb.state().state === 'up'

  /** Other parts report a single QuestDB that is down. */
  async function noteAway(job: EraseJob): Promise<void> {
    if (replicas.length === 1) return
    const away = replicas.filter(replica => !(isUp(replica) || replica.isLost?.() === true))
    const reasons = away.map(replica => `${replicaPrefix(replicas, replica)}QuestDB is unavailable`)
    await noteDelay?.(job, reasons.length === 0 ? null : reasons.join('; '))
  }

  return {
    noteAway,
    async untilUp(replica, job) {
      while (!isUp(replica)) {
        if (replica.isLost?.() === true) throw new Error(`${replicaPrefix(replicas, replica)}it is lost`)
        await pause(pauseMs)
      }
      if (job !== undefined) await noteAway(job)
    },
  }
}
