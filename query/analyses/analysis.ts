/**
 * An analysis: its operation, the time for which its answer is valid, and its computation in a worker. An analysis is
 * one file and one entry in `analyses.ts`.
 */

import type { z } from 'zod'
import type { RejectedReadings } from '../../analytics/findings/from-quality.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import type { ResponseTemplate } from '../cache/response-template.ts'
import type { CustomMetric } from '../custom-metric.ts'
import type { HourSources } from '../questdb/hourly-sql.ts'
import type { StatsLive } from '../stats/live.ts'
import type { TaskContext } from '../task-context.ts'

/** The options of a request, without its devices: part of the key of its answer. */
export interface How extends Pick<AskedWindow, 'startMs' | 'endMs'> {
  /** Metrics beside those that the answer always has. */
  readonly custom: readonly object[]
}

/** The options of most analyses. */
export interface CustomHow extends How {
  readonly custom: readonly CustomMetric[]
}

/** The part of a query that is the same for all analyses. */
export interface Asked {
  readonly device: AnalysedDevice
  /** Set by a comparison. */
  readonly other?: AnalysedDevice
  /** The end of the request, and now without one. */
  readonly nowMs: number
  /** The full minute of the computation, also for a request about the past. */
  readonly clockMs: number
  /** Readings are never later; some are a little ahead of our clock. */
  readonly newestUs: number
  readonly hourSources: HourSources
}

/** Short computations do not wait for long ones, which run at idle priority. */
export type PoolName = 'light' | 'long'

export interface Computation<Options extends How> {
  /** The pools that it runs in; the next one where the answer is too large for one. */
  readonly pools: readonly PoolName[] | ((how: Options) => readonly PoolName[])
  /** The time for which an answer without new readings is valid; a minute without it. */
  readonly untilMs?: number
  readonly maxAgeSeconds?: number
  compute(query: Options & Asked, context: TaskContext): Promise<string | ResponseTemplate<StatsLive>>
}

/** Facts about the device besides the parameters. */
interface Reported {
  readonly rejected?: RejectedReadings | undefined
}

export interface Analysis<Parameters, Options extends CustomHow> extends Computation<Options> {
  /** Its part of the path, such as `detail_data`. */
  readonly path: string
  /** Its part of the function's name in clients. */
  readonly title: string
  summary(noun: 'device' | 'station'): string
  readonly description?: string
  readonly parameters: z.ZodObject & z.ZodType<Parameters>
  readonly answer: z.ZodType
  /** Metrics that the answer has in any case. */
  readonly always: readonly string[]
  /** Names of the other metrics; without it the parameter `metrics`, and all of them without that. */
  names?(parameters: Parameters): readonly string[] | undefined
  /** Selects among the device's metrics. */
  select?(metric: CustomMetric): boolean
  /** Error of the metrics beyond the parameters' forms. */
  fault?(custom: readonly CustomMetric[]): string | undefined
  how(parameters: Parameters, reported: Reported): Omit<Options, 'custom'>
  /** Error for a request with too large an answer. */
  readonly tooLarge?: 'TOO_MANY_DAYS'
}

export function defineAnalysis<Parameters, Options extends CustomHow>(
  analysis: Analysis<Parameters, Options>,
): Analysis<Parameters, Options> {
  return analysis
}

/** The time of the readings of a window. */
export function rangeOf({ days, startMs, endMs: askedMs, clockMs }: AskedWindow & Pick<Asked, 'clockMs'>) {
  const endMs = asOfMs(askedMs, clockMs)
  return { startMs: Math.min(startMs ?? endMs - days * 86_400_000, endMs), endMs }
}

/** The window of an analysis: some days up to now or to an earlier moment, or the time between two moments. */

export interface AskedWindow {
  /** The value is the length of the window if there is a start, and may be fractional. */
  readonly days: number
  readonly startMs?: number | undefined
  /** The answer ignores later readings; undefined or a future moment means now. */
  readonly endMs?: number | undefined
}

export function asOfMs(endMs: number | undefined, nowMs: number): number {
  return Math.min(endMs ?? nowMs, nowMs)
}

/** No reading of the answer is later. */
export function newestUsOf(endMs: number | undefined, newestUs: number): number {
  return endMs === undefined ? newestUs : Math.min(newestUs, endMs * 1000 - 1)
}
