/**
 * The cadence for answers that are about less time than it is estimated from: the same one for the same readings, whatever
 * is asked about.
 */

import { type Cadence, cadenceOf, type GapThresholds } from '../../analytics/reliability/cadence.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import type { TaskContext } from '../task-context.ts'

/** As far as it looks back. */
const lookbackUs = 30 * 86_400_000_000
/** Days of a device that reports every minute, a part of a day of one that reports every second, whose interval that tells. */
const timesMax = 5000

/**
 * The times of the readings before an answer's own ones, as far back from the last of them as the cadence looks: a device that has
 * been silent for long has the interval that it had. None for a configured device.
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

/** Of the readings at `timesMs` and those before them. */
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

/** Of those since a moment: a line that is broken beyond it is whole where the device reported at its pace of then. */
export function longestGapMs(stretches: GapThresholds, sinceMs: number): number | null {
  const since = stretches.filter((_, place) => (stretches[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY) > sinceMs)
  return since.length === 0 ? null : Math.max(...since.map(({ gapMs }) => gapMs))
}
