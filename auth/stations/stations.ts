/**
 * Entry point of this folder: the stations of the air-quality network. All of them are held in memory; a change is committed
 * in PostgreSQL and forgotten in memory before its call is answered, and the next call reads all of them again.
 */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import { createLastSeen, type LastSeenOptions, type SeenRecord } from '../last-seen.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import { createRecordCache } from '../record-cache.ts'
import type { Station } from './station.ts'
import { createStationChanges, type StationChanges } from './station-changes.ts'
import { handStationsOver, readStations, saveLastData } from './station-rows.ts'

/** All stations of one moment. */
interface StationRegistry {
  /** In the order of `sn`, by code units. */
  readonly all: readonly Station[]
  readonly bySn: ReadonlyMap<string, Station>
}

/** Gives the stations of an account to the operator, in a transaction. */
export type HandStationsOver = (transaction: Transaction, owner: number, by: string) => Promise<void>

/** Reads and changes reject as PostgreSQL does when it is away. */
export interface Stations extends StationChanges {
  /** From memory, if nothing has changed. */
  registry(): Promise<StationRegistry>
  find(sn: string): Promise<Station | undefined>
  /** Updates the time in memory; PostgreSQL is updated later in a batch, soon where these are the first data. */
  noteData(station: Pick<Station, 'id' | 'savedLastDataMs'>, timeMs: number): void
  /** The same of points that this process or another one took, in memory: who took them saves it. */
  heard(points: HeardPoints): void
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
        // Whether there are data decides whether reads look for points.
        const isFirst = await saveLastData(transaction, idsOf(times), timesMs)
        if (isFirst) feed.note(transaction, 'station')
      }),
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
    heard: createHeardPoints(registry, dataTimes),
    lastDataMs: dataTimes.last,

    withHandOver: work => records.change(everything, () => work(handOver)),
    close: dataTimes.close,
  }
}

const idsOf = (records: readonly { readonly id: number }[]) => records.map(({ id }) => id)

/** Points of one group, each of a series by its number, and when they were taken. */
interface HeardPoints {
  readonly place: { readonly receiptMs: number } | undefined
  next(): boolean
  readonly series: number
}

interface AllStations {
  readonly all: readonly Station[]
}

/** `registry`: the same object until something has changed. */
function createHeardPoints(
  registry: () => Promise<AllStations>,
  dataTimes: Pick<DataTimes, 'heard'>,
): (points: HeardPoints) => void {
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
      if (station !== undefined) dataTimes.heard(station, receiptMs)
    }
  }

  return points => {
    const series = new Set<number>()
    while (points.next()) series.add(points.series)
    // Without PostgreSQL it is known later, by what the process saves that took them.
    void note(series, points.place?.receiptMs ?? 0).catch(() => undefined)
  }
}

interface DataTime extends SeenRecord {
  id: number
  /** This process took some. */
  isNoted: boolean
}

interface DataTimes {
  /** Saved later in a batch, soon where these are the first data. */
  note(station: Pick<Station, 'id' | 'savedLastDataMs'>, timeMs: number): void
  /** Whoever took them saves it. */
  heard(station: Pick<Station, 'id'>, timeMs: number): void
  last(station: Station): number | null
  /** Forgets those of other stations. */
  keep(ids: ReadonlySet<number>): void
  close(): Promise<void>
}

/** That a station has data decides whether reads look for points at all, so a crash soon afterwards must not forget it. */
const firstFlushMs = 50

/** When the newest data of stations came, in memory: as this process took them, or heard that another one did. */
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
    heard: ({ id }, timeMs) => void raised(id, timeMs),
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
