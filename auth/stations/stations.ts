/**
 * Entry point of this folder: the stations of the air-quality network. All of them are held in memory; a change is committed
 * in PostgreSQL and forgotten in memory before its call is answered, and the next call reads all of them again.
 */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import { createRecordCache } from '../record-cache.ts'
import { createDataTimes } from './data-times.ts'
import { createHeardPoints, type HeardPoints } from './heard-points.ts'
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
