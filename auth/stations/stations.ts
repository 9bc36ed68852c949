/**
 * Entry point of this folder: the stations of the air-quality network. All of them are held in memory; a change is committed
 * in PostgreSQL and forgotten in memory before its call is answered, and the next call reads all of them again.
 */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { errorCode, isForeignKeyViolation, isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import { hasEnded, inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { createLastSeen, type SeenRecord } from '../last-seen.ts'
import { createRecordCache } from '../record-cache.ts'
import { type NewStation, type Station, type StationChange, subjectOfStation } from './station.ts'
import {
  countStations,
  handStationsOver,
  insertStation,
  markStationRemoved,
  readStations,
  saveLastData,
  updateStation,
} from './station-rows.ts'

/** All stations of one moment. */
interface StationRegistry {
  /** In the order of `sn`, by code units. */
  readonly all: readonly Station[]
  readonly bySn: ReadonlyMap<string, Station>
}

export type StationRefusal = { ok: false; code: 'SN_TAKEN' | 'OWNER_UNKNOWN' | 'REGISTRY_FULL' | 'STATION_UNKNOWN' }
export type StationChanged<Value> = { ok: true; value: Value } | StationRefusal

/** Gives the stations of an account to the operator, in a transaction. */
export type HandStationsOver = (transaction: Transaction, owner: number, by: string) => Promise<void>

/** Reads and changes reject as PostgreSQL does when it is away. */
export interface Stations {
  /** From memory, if nothing has changed. */
  registry(): Promise<StationRegistry>
  find(sn: string): Promise<Station | undefined>
  /** `by` is who asks, for the audit. */
  add(station: NewStation, by: string): Promise<StationChanged<Station>>
  /** By id, so that a repeated call never meets a newer station of the same `sn`. */
  change(id: number, change: StationChange, by: string): Promise<StationChanged<Station>>
  /**
   * Its points cannot be reached any more, also not by a new station of the same `sn`. `write` is done together with it:
   * both or neither.
   */
  remove(
    station: Pick<Station, 'id' | 'sn'>,
    by: string,
    write?: (transaction: Transaction) => Promise<void>,
  ): Promise<StationChanged<undefined>>
  /** Updates the time in memory; PostgreSQL is updated later in a batch, soon where these are the first data. */
  noteData(station: Pick<Station, 'id' | 'savedLastDataMs'>, timeMs: number): void
  /** When its newest data came. */
  lastDataMs(station: Station): number | null
  /** Runs a change that may hand stations over, for the removal of an account. */
  withHandOver<Value>(work: (handOver: HandStationsOver) => Promise<Value>): Promise<Value>
  /** Saves when data came. */
  close(): Promise<void>
}

export interface StationsOptions {
  pool: pg.Pool
  nowMs: () => number
  log: Pick<Log, 'warn'>
  stationsMax?: number
  /** Interval at which the times of data are saved. */
  flushMs?: number
  /** Timeout of each statement of a change; normally it takes milliseconds. */
  stepMs?: number
}

/** With more, reading all of them after each change would take too long. */
const stationsMaxUsual = 10_000
/** That a station has data decides whether reads look for points at all, so a crash soon afterwards must not forget it. */
const firstFlushMs = 50
const everything = 'all'
const unknownStation = { ok: false, code: 'STATION_UNKNOWN' } as const
/** `sequence_generator_limit_exceeded`: no number of a series is left. */
const sequenceIsUsedUp = '2200H'

interface DataTime extends SeenRecord {
  id: number
}

export function openStations(options: StationsOptions): Stations {
  const { pool, nowMs, log, stationsMax = stationsMaxUsual, flushMs = 60_000, stepMs = 4_000 } = options
  const records = createRecordCache<typeof everything, StationRegistry>({
    recordsMax: 1,
    async read() {
      const all = await readStations(pool)
      return { all, bySn: new Map(all.map(station => [station.sn, station])) }
    },
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
  })
  const dataTimes = new Map<number, DataTime>()
  const lastData = createLastSeen<DataTime>({
    save: (times, timesMs) => saveLastData(pool, idsOf(times), timesMs),
    failed: error => log.warn({ err: error }, 'could not save when data of stations came, retrying'),
    flushMs,
    batchMax: 5_000,
    unsavedMax: stationsMax,
  })

  async function registry(): Promise<StationRegistry> {
    const found = await records.get(everything)
    if (found === undefined) throw new Error('a read of all stations gives a registry')
    return found
  }

  function transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return records.change(everything, () => inTransaction(pool, { stepMs }, work))
  }

  return {
    registry,
    find: async sn => (await registry()).bySn.get(sn),

    add(station, by) {
      const added = transact(async (transaction): Promise<StationChanged<Station>> => {
        if ((await countStations(transaction)) >= stationsMax) return { ok: false, code: 'REGISTRY_FULL' }
        const value = await insertStation(transaction, station, nowMs())
        const details = { ...station }
        const subject = subjectOfStation(station.sn)
        await writeAudit(transaction, { actor: by, action: 'station.add', subject, details })
        return { ok: true, value }
      })
      return added.catch(refusalOf)
    },

    change(id, change, by) {
      const changed = transact(async (transaction): Promise<StationChanged<Station>> => {
        const value = await updateStation(transaction, id, change, nowMs())
        if (value === undefined) return unknownStation
        const details = { ...change }
        const subject = subjectOfStation(value.sn)
        await writeAudit(transaction, { actor: by, action: 'station.change', subject, details })
        return { ok: true, value }
      })
      return changed.catch(refusalOf)
    },

    async remove({ id, sn }, by, write) {
      const removed = await transact(async transaction => {
        if (!(await markStationRemoved(transaction, id, nowMs()))) return false
        await writeAudit(transaction, { actor: by, action: 'station.remove', subject: subjectOfStation(sn) })
        await write?.(transaction)
        return true
      })
      if (!removed) return unknownStation
      dataTimes.delete(id)
      return { ok: true, value: undefined }
    },

    noteData({ id, savedLastDataMs }, timeMs) {
      const known = dataTimes.get(id)
      const time = known ?? { id, lastSeenMs: 0, seenUnsaved: false }
      dataTimes.set(id, time)
      lastData.seen(time, timeMs, known === undefined && savedLastDataMs === null ? firstFlushMs : flushMs)
    },

    lastDataMs({ id, savedLastDataMs }) {
      const notedMs = dataTimes.get(id)?.lastSeenMs
      return notedMs === undefined ? savedLastDataMs : Math.max(notedMs, savedLastDataMs ?? notedMs)
    },

    withHandOver: work => records.change(everything, () => work(handStationsOver)),
    close: lastData.close,
  }
}

const idsOf = (records: readonly { readonly id: number }[]) => records.map(({ id }) => id)

function refusalOf(error: unknown): StationRefusal {
  if (isUniqueViolation(error, 'stations_sn')) return { ok: false, code: 'SN_TAKEN' }
  if (isForeignKeyViolation(error, 'stations_owner_fkey')) return { ok: false, code: 'OWNER_UNKNOWN' }
  if (errorCode(error) === sequenceIsUsedUp) return { ok: false, code: 'REGISTRY_FULL' }
  throw error
}
