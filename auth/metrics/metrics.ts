/**
 * Entry point of this folder: the registry of metrics, and of their series. All of it is held in memory, so a field of a reading
 * finds its metric without a query to PostgreSQL. A change is committed to PostgreSQL first and then applied in memory, before
 * the call returns.
 */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import { createFirstSight, type FirstSight } from './first-sight.ts'
import { createMetricChanges, type MetricChanges } from './metric-changes.ts'
import { createMetricCommits } from './metric-commits.ts'
import { type MetricListQuery, metricPage } from './metric-list.ts'
import { type BuiltInRanges, MetricMemory } from './metric-memory.ts'
import type { MetricPage } from './metric-page.ts'
import {
  idsOf,
  type MetricRow,
  type NamedSeries,
  readMetrics,
  readMetricsNumbered,
  readNamedSeries,
  readSeriesAfter,
  readSeriesGiven,
  readSeriesOf,
} from './metric-rows.ts'
import { createSeriesRemoval, type SeriesRemoval } from './series-removal.ts'

export interface Metrics extends MetricChanges, FirstSight, SeriesRemoval {
  /** From memory, as is all that is no promise. By its name. */
  get(name: string): Metric | undefined
  /** By its name, another spelling of it (`windSpeed`), or an alias of the catalogue (`co2_ppm`). */
  find(field: string): Metric | undefined
  /** In the order of positions; the same array until something changes. */
  all(): readonly Metric[]
  /** Increases with each change of a metric. */
  version(): number
  /** The number of a series; undefined for the five that are built in, which are columns of the table of readings. */
  series(device: number, metric: Pick<Metric, 'id'>): number | undefined
  /** The number of a device and of a series of it, in turns, of all of them. */
  seriesPairs(): Uint32Array
  /** The highest number that a series has had. */
  seriesMax(): number
  /** The same, or a higher one that was given to none; from PostgreSQL, so that no other process knows of a higher one. */
  seriesGiven(): Promise<number>
  /** What series are of, by number, behind this one; from PostgreSQL. */
  namedSeries(after: number, rowsMax: number): Promise<NamedSeries[]>
  /** The metric of a series of a device. */
  metricOf(device: number, series: number): Metric | undefined
  /** What a device has sent besides those, the oldest first. */
  metricsOf(device: number): Metric[]
  list(query: MetricListQuery): MetricPage
  /** Takes into memory what a change of devices has added. */
  learn(rows: readonly MetricRow[]): void
  /** Resolves the unknown outcome of the last change, if any; false while PostgreSQL cannot tell. */
  reconcile(): Promise<boolean>
  close(): Promise<void>
}

export interface MetricsOptions {
  pool: pg.Pool
  log: Pick<Log, 'warn'>
  /** `open`: a field that is no metric yet makes one; `declared`: only administrators do. */
  mode: 'open' | 'declared'
  /** How many metrics the readings of the devices of one account make, beside those that the catalogue knows. */
  perOwner?: number
  /** The accepted ranges of the built-in metrics, by name, as the settings have them. */
  ranges?: BuiltInRanges
  /** Timeout of each statement of a change; normally it takes milliseconds. */
  stepMs?: number
  feed?: ChangeFeed
}

const seriesPerRead = 10_000
const idsPerRead = 1_000

export async function openMetrics(options: MetricsOptions): Promise<Metrics> {
  const { pool, log, mode, perOwner = Number.POSITIVE_INFINITY, ranges = {}, stepMs = 4_000 } = options
  const { feed = noFeed } = options
  const memory = new MetricMemory(ranges)
  const removal = createSeriesRemoval({ pool, feed, memory, commits: () => commits })
  const readAgain = async () => {
    await readAll(pool, memory)
    await readSeries(pool, memory)
    await removal.readAgain()
  }
  await readAgain()
  const failed = (error: unknown) => log.warn({ err: error }, 'change of metrics failed or unconfirmed')
  const commits = createMetricCommits({ pool, feed, stepMs, readAgain, failed })
  followFeed(feed, pool, memory)

  return {
    ...createMetricChanges({ memory, feed, commits }),
    ...createFirstSight({ memory, feed, commits, isOpen: mode === 'open', perOwner, failed }),
    learn(rows) {
      for (const row of rows) memory.apply(row)
    },
    removeSeries: removal.removeSeries,
    get: name => memory.get(name),
    find: field => memory.find(field),
    all: () => memory.all(),
    version: () => memory.version(),
    series: (device, { id }) => memory.seriesOf(device, id),
    seriesPairs: () => memory.seriesPairs(),
    seriesMax: () => memory.seriesMax(),
    seriesGiven: () => readSeriesGiven(pool),
    namedSeries: (after, rowsMax) => readNamedSeries(pool, after, rowsMax),
    metricOf: (device, series) => memory.byId(memory.metricOf(device, series) ?? 0),
    metricsOf: device => memory.metricsOf(device).flatMap(id => memory.byId(id) ?? []),
    list: query => metricPage(memory.all(), query),
    reconcile: commits.reconcile,
    close: commits.close,
  }
}

/** As `Metrics.seriesPairs` has them, of a process that keeps no metrics in memory. */
export async function readSeriesPairs(pool: pg.Pool): Promise<Uint32Array> {
  const memory = new MetricMemory({})
  await readSeries(pool, memory)
  return memory.seriesPairs()
}

/** Those behind the last one that is known, in pages, so that they are not held twice in memory. */
async function readSeries(pool: pg.Pool, memory: MetricMemory): Promise<void> {
  for (;;) {
    const rows = await readSeriesAfter(pool, memory.seriesMax(), seriesPerRead)
    for (const row of rows) memory.applySeries(row)
    if (rows.length < seriesPerRead) return
  }
}

/** Again, where others have changed one meanwhile: what was read would not have it. */
async function readAll(pool: pg.Pool, memory: MetricMemory): Promise<void> {
  for (;;) {
    const version = memory.version()
    const rows = await readMetrics(pool)
    if (memory.version() !== version) continue
    memory.replace(rows)
    return
  }
}

/** Takes into memory what other nodes change. */
function followFeed(feed: ChangeFeed, pool: pg.Pool, memory: MetricMemory): void {
  const inPages = (apply: (ids: readonly number[]) => Promise<void>) => async (ids: readonly number[]) => {
    for (let from = 0; from < ids.length; from += idsPerRead) await apply(ids.slice(from, from + idsPerRead))
  }
  feed.onChange(
    'metric',
    inPages(async ids => {
      const rows = await readMetricsNumbered(pool, ids)
      for (const row of rows) memory.apply(row)
      const present = new Set(idsOf(rows))
      for (const id of ids) if (!present.has(id)) memory.removeById(id)
    }),
  )
  feed.onChange('series-removed', numbers => memory.noteRemovedSeries(numbers))
  feed.onChange(
    'series',
    inPages(async devices => memory.replaceSeries(devices, await readSeriesOf(pool, devices))),
  )
}
