/**
 * Entry point of this folder: the registry of metrics and their series. It is in memory, so a reading's field finds its
 * metric without a query to PostgreSQL. A change is committed to PostgreSQL and then applied in memory before the call
 * returns.
 */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import { createMetricChanges, type MetricChanges } from './metric-changes.ts'
import { createMetricCommits } from './metric-commits.ts'
import { createMetricDiscovery, type MetricDiscovery } from './metric-discovery.ts'
import { type MetricListQuery, type MetricPage, metricPage } from './metric-list.ts'
import { type BuiltInRanges, MetricMemory } from './metric-memory.ts'
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

export interface Metrics extends MetricChanges, MetricDiscovery, SeriesRemoval {
  /** Finds by name. Like all synchronous methods, it reads memory. */
  get(name: string): Metric | undefined
  /** Finds by name, another spelling (`windSpeed`), or an alias of the catalogue (`co2_ppm`). */
  find(field: string): Metric | undefined
  /** Ordered by position. The same array until something changes. */
  all(): readonly Metric[]
  /** Increases with each change of a metric. */
  version(): number
  /** Number of a series; undefined for the five built-in metrics, which are columns of the table of readings. */
  series(device: number, metric: Pick<Metric, 'id'>): number | undefined
  /** Device numbers and series numbers, alternating, of all series. */
  seriesPairs(): Uint32Array
  seriesMax(): number
  /** Reads a number that is at least the highest series number of all processes from PostgreSQL. */
  seriesGiven(): Promise<number>
  /** Reads the devices and metrics of the series after this number from PostgreSQL. */
  namedSeries(after: number, rowsMax: number): Promise<NamedSeries[]>
  metricOf(device: number, series: number): Metric | undefined
  /** Custom metrics that the device has sent, oldest first. */
  metricsOf(device: number): Metric[]
  list(query: MetricListQuery): MetricPage
  /** Applies metrics that a change of devices has added. */
  learn(rows: readonly MetricRow[]): void
  /** Resolves the unknown outcome of the last change, if any; false while PostgreSQL is unavailable. */
  reconcile(): Promise<boolean>
  close(): Promise<void>
}

export interface MetricsOptions {
  pool: pg.Pool
  log: Pick<Log, 'warn'>
  /** `open`: an unknown field makes a metric; `declared`: only administrators do. */
  mode: 'open' | 'declared'
  /** Limit of metrics that readings of one account's devices make, apart from the catalogue's. */
  perOwner?: number
  /** Configured ranges of the built-in metrics, by name. */
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
    ...createMetricDiscovery({ memory, feed, commits, isOpen: mode === 'open', perOwner, failed }),
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

/** Reads the pairs of `Metrics.seriesPairs` for a process without metrics in memory. */
export async function readSeriesPairs(pool: pg.Pool): Promise<Uint32Array> {
  const memory = new MetricMemory({})
  await readSeries(pool, memory)
  return memory.seriesPairs()
}

/** Reads series after the last known one in pages, so that they are not held twice in memory. */
async function readSeries(pool: pg.Pool, memory: MetricMemory): Promise<void> {
  for (;;) {
    const rows = await readSeriesAfter(pool, memory.seriesMax(), seriesPerRead)
    for (const row of rows) memory.applySeries(row)
    if (rows.length < seriesPerRead) return
  }
}

/** Repeats the read if another node has changed a metric meanwhile. */
async function readAll(pool: pg.Pool, memory: MetricMemory): Promise<void> {
  for (;;) {
    const version = memory.version()
    const rows = await readMetrics(pool)
    if (memory.version() !== version) continue
    memory.replace(rows)
    return
  }
}

/** Applies changes of other nodes. */
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
