/** The values of a custom metric, and their indexes among other times. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import type { Samples } from '../../analytics/present.ts'
import { estimatedCadence } from '../../analytics/reliability/cadence.ts'
import { unknownState } from '../../analytics/state/state-runs.ts'
import type { SeriesHourColumn } from '../../store/tables.ts'
import type { CustomMetric } from '../custom-metric.ts'

/** A total grows from the sample before a range on, and the one before that may show it to be noise. */
export const counterSamplesAround = 2

/**
 * The existing values of a metric, ascending; for a direction with a speed, also the times of speeds without a
 * direction.
 */
export interface CustomSamples extends Samples {
  readonly metric: CustomMetric
  /** One for each time, NaN where missing; undefined without a paired speed. */
  readonly speeds: Float64Array | undefined
  /** Hours of expired values. The samples in them are synthetic. */
  readonly expired?: ExpiredHours | undefined
}

export interface ExpiredHours {
  /** Hours that begin before this are expired. */
  readonly beforeMs: number
  /** The kept figures of each hour, by its start. */
  readonly at: ReadonlyMap<number, Pick<Record<SeriesHourColumn, number>, 'count' | 'sine' | 'cosine'>>
  /** Starts of the hours of amounts whose largest value is unknown. */
  readonly withoutMax: ReadonlySet<number>
}

/** The values at these times, ascending, NaN where there is none. Values at other times are left out. */
export function alignedTo(timesMs: Float64Array, samples: Samples): Float64Array {
  const aligned = new Float64Array(timesMs.length).fill(Number.NaN)
  let place = 0
  for (let index = 0; index < samples.timesMs.length; index++) {
    const timeMs = samples.timesMs[index] as number
    while (place < timesMs.length && (timesMs[place] as number) < timeMs) place++
    if (timesMs[place] === timeMs) aligned[place] = samples.values[index] as number
  }
  return aligned
}

/** After a week of silence the state is unknown. */
export const stateHoldMaxMs = 7 * 86_400_000

/**
 * Undefined where values come at the device's pace, so that a missing one is a gap. A state counts as sent on change
 * where values are irregular and at least half of them differ from the one before. Synthetic samples are used only
 * where there are too few others, and never for their times, which are evenly spaced.
 */
export function stateHoldMs({
  timesMs,
  values,
  expired,
}: Pick<CustomSamples, 'timesMs' | 'values' | 'expired'>): number | undefined {
  const from = expired === undefined ? 0 : lowerBound(timesMs, expired.beforeMs)
  const kind = () => estimatedCadence(timesMs.subarray(from)).kind
  const areEnough = from === 0 || kind() !== 'unknown'
  if (!isChanging(areEnough ? values.subarray(from) : values)) return undefined
  return kind() === 'regular' ? undefined : stateHoldMaxMs
}

/** Counts pairs with two known states. */
function isChanging(values: Float64Array): boolean {
  let [pairs, differing] = [0, 0]
  for (let index = 1; index < values.length; index++) {
    const [before, value] = [values[index - 1], values[index]]
    if (before === unknownState || value === unknownState) continue
    pairs++
    if (value !== before) differing++
  }
  return 2 * differing >= pairs
}
