/**
 * Entry point of this folder: the air-quality stations. All of them are in memory. A change commits in PostgreSQL and
 * invalidates memory before its call returns, and the next call reads all of them again.
 */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import { createLastSeen, type LastSeenOptions, type SeenRecord } from '../last-seen.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import { createRecordCache } from '../record-cache.ts'
import type { Station } from './station.ts'
import {
  createStationChanges,
  handStationsOver,
  readStations,
  type StationChanges,
  saveLastData,
} from './station-rows.ts'

/** All stations of one snapshot. */
interface StationRegistry {
  /** Ordered by the code units of `sn`. */
  readonly all: readonly Station[]
  readonly bySn: ReadonlyMap<string, Station>
}

/** Gives the stations of an account to the operator, in a transaction. */
export type HandStationsOver = (transaction: Transaction, owner: number, by: string) => Promise<void>

/** Reads and changes reject like PostgreSQL while it is unavailable. */
export interface Stations extends StationChanges {
  /** Reads memory unless something has changed. */
  registry(): Promise<StationRegistry>
  find(sn: string): Promise<Station | undefined>
  /** Updates the time in memory; PostgreSQL is updated later in a batch, sooner for a station's first data. */
  noteData(station: Pick<Station, 'id' | 'savedLastDataMs'>, timeMs: number): void
  /** Notes points of this process or another one in memory. The process that accepted them saves the time. */
  received(points: ReceivedPoints): void
  /** Time of its newest data. */
  lastDataMs(station: Station): number | null
  /** Runs a change that may hand stations over, such as the removal of an account. */
  withHandOver<Value>(work: (handOver: HandStationsOver) => Promise<Value>): Promise<Value>
  /** Saves pending times. */
  close(): Promise<void>
}

export interface StationsOptions {
  pool: pg.Pool
  nowMs: () => number
  log: Pick<Log, 'warn'>
  stationsMax?: number
  /** Interval of saving times of data. */
  flushMs?: number
  /** Timeout of each statement of a change; normally it takes milliseconds. */
  stepMs?: number
  feed?: ChangeFeed
}

/** With more, reading all of them after each change would take too long. */
const stationsMaxUsual = 10_000
const everything = 'all'

export function openStations(options: StationsOptions): Stations {
  const { pool, nowMs, log, stationsMax = stationsMaxUsual, flushMs = 60_000, stepMs = 4_000 } = options
  const { feed = noFeed } = options
  const records = createRecordCache<typeof everything, StationRegistry>({
    recordsMax: 1,
    async read() {
      const all = await readStations(pool)
      dataTimes.keep(new Set(idsOf(all)))
      return { all, bySn: new Map(all.map(station => [station.sn, station])) }
    },
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
    isCurrent: feed.isCurrent,
  })
  feed.onChange('station', () => records.forget(everything))
  const dataTimes = createDataTimes({
    save: (times, timesMs) =>
      feed.commit({ pool, stepMs }, async transaction => {
        // Reads query points only for stations with data.
        const isFirst = await saveLastData(transaction, idsOf(times), timesMs)
        if (isFirst) feed.note(transaction, 'station')
      }),
    failed: error => log.warn({ err: error }, 'could not save times of station data, retrying'),
    flushMs,
    batchMax: 5_000,
    unsavedMax: stationsMax,
  })

  async function registry(): Promise<StationRegistry> {
    const found = await records.get(everything)
    if (found === undefined) throw new Error('a read of all stations gives a registry')
    return found
  }

  async function transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const result = await records.change(everything, () =>
      feed.commit({ pool, stepMs }, transaction => {
        feed.note(transaction, 'station')
        return work(transaction)
      }),
    )
    await feed.settle()
    return result
  }

  async function handOver(transaction: Transaction, owner: number, by: string): Promise<void> {
    feed.note(transaction, 'station')
    await handStationsOver(transaction, owner, by)
  }

  return {
    registry,
    find: async sn => (await registry()).bySn.get(sn),

    ...createStationChanges({ transact, nowMs, stationsMax }),

    noteData: dataTimes.note,
    received: createReceivedPoints(registry, dataTimes),
    lastDataMs: dataTimes.last,

    withHandOver: work => records.change(everything, () => work(handOver)),
    close: dataTimes.close,
  }
}

const idsOf = (records: readonly { readonly id: number }[]) => records.map(({ id }) => id)

/** Points of one group, each with its series number, and their receipt time. */
interface ReceivedPoints {
  readonly place: { readonly receiptMs: number } | undefined
  next(): boolean
  readonly series: number
}

interface AllStations {
  readonly all: readonly Station[]
}

/** `registry` is the same object until something has changed. */
function createReceivedPoints(
  registry: () => Promise<AllStations>,
  dataTimes: Pick<DataTimes, 'received'>,
): (points: ReceivedPoints) => void {
  const indexes = new WeakMap<AllStations, ReadonlyMap<number, Station>>()

  async function stationsBySeries(): Promise<ReadonlyMap<number, Station>> {
    const found = await registry()
    const known = indexes.get(found)
    if (known !== undefined) return known
    const index = new Map(found.all.flatMap(station => [...station.series.values()].map(number => [number, station])))
    indexes.set(found, index)
    return index
  }

  async function note(series: ReadonlySet<number>, receiptMs: number): Promise<void> {
    const bySeries = await stationsBySeries()
    for (const number of series) {
      const station = bySeries.get(number)
      if (station !== undefined) dataTimes.received(station, receiptMs)
    }
  }

  return points => {
    const series = new Set<number>()
    while (points.next()) series.add(points.series)
    // Without PostgreSQL, the time is read later, after the accepting process has saved it.
    void note(series, points.place?.receiptMs ?? 0).catch(() => undefined)
  }
}

interface DataTime extends SeenRecord {
  id: number
  /** True if this process accepted data. */
  isNoted: boolean
}

interface DataTimes {
  /** Saved later in a batch, sooner for a station's first data. */
  note(station: Pick<Station, 'id' | 'savedLastDataMs'>, timeMs: number): void
  /** The accepting process saves it. */
  received(station: Pick<Station, 'id'>, timeMs: number): void
  last(station: Station): number | null
  /** Drops times of other stations. */
  keep(ids: ReadonlySet<number>): void
  close(): Promise<void>
}

/** Reads query points only for stations with data, so a crash soon after the first data must not lose the time. */
const firstFlushMs = 50

/** Holds times of stations' newest data in memory, for data of this process and other ones. */
function createDataTimes(options: LastSeenOptions<DataTime>): DataTimes {
  const times = new Map<number, DataTime>()
  const saving = createLastSeen(options)

  function raised(id: number, timeMs: number): DataTime {
    const time = times.get(id) ?? { id, lastSeenMs: 0, seenUnsaved: false, isNoted: false }
    time.lastSeenMs = Math.max(time.lastSeenMs, timeMs)
    times.set(id, time)
    return time
  }

  return {
    note({ id, savedLastDataMs }, timeMs) {
      const time = raised(id, timeMs)
      saving.willBeSeen(time, !time.isNoted && savedLastDataMs === null ? firstFlushMs : options.flushMs)
      time.isNoted = true
    },
    received: ({ id }, timeMs) => void raised(id, timeMs),
    last({ id, savedLastDataMs }) {
      const knownMs = times.get(id)?.lastSeenMs
      return knownMs === undefined ? savedLastDataMs : Math.max(knownMs, savedLastDataMs ?? knownMs)
    },
    keep(ids) {
      for (const id of times.keys()) if (!ids.has(id)) times.delete(id)
    },
    close: saving.close,
  }
}
