/** Reads points in a pool of worker threads, and caches how many there are in each hour. */

import { LRUCache } from 'lru-cache'
import type { Log } from '../../store/log.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import { createAvailabilityLog } from '../availability-log.ts'
import type { AnswerCode } from '../cache/body.ts'
import { defaultLimits, type QueryLimits } from '../limits.ts'
import { createPool } from '../pool.ts'
import { locate } from './hour-counts.ts'
import type { Plan, StoredPlan } from './point-plan.ts'
import type { PointFormat } from './point-texts.ts'
import type { PointsQueries, PointsResult, PointsText } from './points-queries.ts'
import type { HourCounts } from './points-source.ts'

export interface PointsOptions {
  readonly questdb: QuestdbAddress
  /** Increases whenever new rows of the series become visible to queries. Without it, nothing is cached. */
  readonly revision?: (seriesNumber: number) => number
  /** Whether QuestDB answered the last probe. Without it every query is sent. */
  readonly questdbAnswers?: () => boolean | Promise<boolean>
  readonly limits?: Partial<QueryLimits>
  readonly log: Log
}

/** MEAN_UNBOUNDED: a running mean is filtered or sorted by without bounds of the time. */
export interface PointsFailure {
  readonly ok: false
  readonly code: AnswerCode | 'MEAN_UNBOUNDED' | 'PAGE_UNKNOWN'
}

export type Outcome<Value> = ({ readonly ok: true } & Value) | PointsFailure

/** Rows of a list, by their place in its order. */
export interface Slice {
  readonly offset: number
  readonly count: number
}

type TextQueries = Omit<PointsQueries, 'hours'>

export interface PointsReader {
  text<Name extends keyof TextQueries>(
    name: Name,
    query: TextQueries[Name],
    client: AbortSignal,
  ): Promise<Outcome<{ text: PointsText }>>
  hours(plan: Plan, client: AbortSignal): Promise<Outcome<{ hours: HourCounts }>>
  close(): Promise<void>
}

/** Their means need the rows of an hour more. */
const rowsBesideMax = 1_000
const hoursBytesMax = 16 * 1024 * 1024
const emptyHours: HourCounts = {
  startsUs: new Float64Array(),
  counts: new Float64Array(),
  newestUs: Number.NEGATIVE_INFINITY,
}
export const nothing: PointsText = { bytes: new Uint8Array(), rows: 0, total: 0, newestUs: Number.NEGATIVE_INFINITY }

export function createPointsReader({ questdb, revision, log, ...options }: PointsOptions): PointsReader {
  const limits = { ...defaultLimits, ...options.limits }
  const pool = createPool<PointsQueries, PointsResult>({
    worker: new URL('./points-worker.ts', import.meta.url),
    settings: {
      questdb,
      timeZone: 'UTC',
      connectTimeoutMs: limits.connectTimeoutMs,
      statementTimeoutMs: limits.timeoutMs,
      bodyBytesMax: limits.latestBytesMax,
      rowsMax: limits.lightRowsMax,
    },
    threadsMax: limits.threadsMax,
    resourceLimits: threadLimits.lightQueries,
    queueMax: limits.queueMax,
    deadlineMs: limits.timeoutMs,
    log,
  })
  const logAvailability = createAvailabilityLog(log)
  const questdbAnswers = options.questdbAnswers ?? (() => true)
  const hoursCache = new LRUCache<string, { version: string; hours: HourCounts }>({
    maxSize: hoursBytesMax,
    sizeCalculation: ({ hours }, key) => key.length + 16 * hours.counts.length + 200,
  })

  async function run<Name extends keyof PointsQueries & string>(
    name: Name,
    query: PointsQueries[Name],
    client: AbortSignal,
  ): Promise<Outcome<{ result: PointsResult }>> {
    if (!(await questdbAnswers())) return { ok: false, code: 'DATABASE_AWAY' }
    const result = await pool.run(name, query, client)
    logAvailability(result)
    return result.ok ? { ok: true, result: result.encoded } : { ok: false, code: result.code }
  }

  async function text<Name extends keyof TextQueries>(
    name: Name,
    query: TextQueries[Name],
    client: AbortSignal,
  ): Promise<Outcome<{ text: PointsText }>> {
    const answer = await run(name, query as PointsQueries[Name], client)
    return answer.ok ? { ok: true, text: answer.result as PointsText } : answer
  }

  async function hoursOf({ filter }: Plan, client: AbortSignal): Promise<Outcome<{ hours: HourCounts }>> {
    const { isEmpty, series, fromUs, toUs, parts } = filter
    if (isEmpty) return { ok: true, hours: emptyHours }
    const query = { series, fromUs, toUs, parts }
    // JSON has no infinities, and null stands for both; but a range has one only at its own end.
    const key = JSON.stringify(query)
    // Taken before the rows are counted: what becomes visible meanwhile is counted again.
    const version = revision && series.map(number => revision(number)).join()
    const cached = hoursCache.get(key)
    if (cached !== undefined && cached.version === version) return { ok: true, hours: cached.hours }
    const answer = await run('hours', query, client)
    if (!answer.ok) return answer
    const hours = answer.result as HourCounts
    if (version !== undefined) hoursCache.set(key, { version, hours })
    return { ok: true, hours }
  }

  return { text, hours: hoursOf, close: pool.close }
}

/** The rows of a plan without any that are computed; so many are there. */
export function readStored(
  { text }: PointsReader,
  plan: StoredPlan,
  hours: HourCounts,
  slice: Slice,
  format: PointFormat,
  client: AbortSignal,
): Promise<Outcome<{ text: PointsText }>> {
  const { time, sql, byId, list } = plan
  const { isEmpty: _, others: __, fromUs, toUs, ...filtered } = plan.filter
  const { station } = list
  const whole = { fromUs, toUs, offset: slice.offset, rows: Number.POSITIVE_INFINITY }
  const located = time === undefined ? whole : locate(hours, time, slice.offset, slice.count)
  const range = { fromUs: Math.max(fromUs, located.fromUs), toUs: Math.min(toUs, located.toUs) }
  const query = { station, ...filtered, ...range, format }
  // Where there are few rows beside those that are meant, one read of all is faster than one of them and one for their means.
  const isRange = byId !== undefined && (located.offset === 0 || located.rows <= rowsBesideMax)
  if (isRange && (format !== 'json' || located.rows <= rowsBesideMax)) {
    const { offset, rows: rowsExpected } = located
    return text('range', { ...query, direction: byId, offset, count: slice.count, rowsExpected }, client)
  }
  return text('page', { ...query, order: sql, offset: located.offset, count: slice.count }, client)
}

/** The rows of any plan. */
export function readFromMemory(
  { text }: PointsReader,
  { list, filter }: Plan,
  slice: Slice,
  format: PointFormat,
  client: AbortSignal,
): Promise<Outcome<{ text: PointsText }>> {
  if (filter.isEmpty) return Promise.resolve({ ok: true, text: nothing })
  const { series, fromUs, toUs } = filter
  const { station, conditions, order } = list
  return text('memory', { station, series, fromUs, toUs, conditions, order, ...slice, format }, client)
}
