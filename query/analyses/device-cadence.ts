/**
 * The cadence for answers that span less time than its estimate needs. It depends on the readings alone, not on the
 * requested range.
 */

import { type Cadence, cadenceOf, type GapThresholds } from '../../analytics/reliability/cadence.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import type { TaskContext } from '../task-context.ts'

/** The estimate looks back this far. */
const lookbackUs = 30 * 86_400_000_000
/**
 * Several days of a device that reports every minute. A device that reports every second needs only a part of a day.
 */
const timesMax = 5000

/**
 * Returns the times of the readings before an answer's own, as far back from the last one as the cadence looks. So a
 * device that has been silent for long keeps its interval. Configured devices need none.
 */
export async function earlierTimes(
  { symbol, expected_interval_seconds }: AnalysedDevice,
  throughUs: number,
  { source, signal }: Pick<TaskContext, 'source' | 'signal'>,
): Promise<Float64Array> {
  if (expected_interval_seconds !== null) return new Float64Array(0)
  const newestUs = await source.newestUs(symbol, throughUs, signal)
  if (newestUs === undefined) return new Float64Array(0)
  return source.newestTimes({ symbol, afterUs: newestUs - lookbackUs, throughUs, countMax: timesMax }, signal)
}

/** Estimates the cadence from `timesMs` and the earlier times. */
export function deviceCadence(
  { expected_interval_seconds }: Pick<AnalysedDevice, 'expected_interval_seconds'>,
  earlierMs: Float64Array,
  timesMs: Float64Array,
): Cadence {
  const all = new Float64Array(earlierMs.length + timesMs.length)
  all.set(earlierMs)
  all.set(timesMs, earlierMs.length)
  return cadenceOf(all, expected_interval_seconds === null ? null : expected_interval_seconds * 1000)
}

/**
 * The longest gap threshold since a moment: with it, a line is unbroken where the device reported at its pace of that
 * time.
 */
export function longestGapMs(stretches: GapThresholds, sinceMs: number): number | null {
  const since = stretches.filter((_, place) => (stretches[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY) > sinceMs)
  return since.length === 0 ? null : Math.max(...since.map(({ gapMs }) => gapMs))
}

/** A metric with an interval this many times longer is not in every reading. */
const rarerMin = 1.5

/** Estimates the cadence from the times of its values. */
export function metricCadence(timesMs: Float64Array, device: Cadence): Cadence {
  const own = cadenceOf(timesMs, null)
  if (own.expectedMs === null) return device
  return device.expectedMs === null || own.expectedMs > rarerMin * device.expectedMs ? own : device
}
