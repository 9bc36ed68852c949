/**
 * Synthetic samples for expired values, built from the kept figures of each hour. There are as many as there were
 * values, evenly spaced from the hour's first to its last (except for a state that becomes unknown). They reproduce the
 * hour's figures, so answers by hours treat expired and existing values alike.
 */

import type { Samples } from '../../analytics/present.ts'
import { unknownState } from '../../analytics/state/state-runs.ts'
import { bug } from '../../store/limits/bug.ts'
import type { SeriesHourColumn } from '../../store/tables.ts'
import { QueryFailed } from '../query-failed.ts'
import type { KeptHours } from '../questdb/measurements-source.ts'
import type { MetricKind } from '../shapes/kinds.ts'

type Hour = Readonly<Record<SeriesHourColumn, number>>

/**
 * More than `samplesMax` are TOO_LARGE. Directions and gauges get none, because their kept figures are used directly.
 */
export function expiredSamples(kind: MetricKind, hours: KeptHours, samplesMax: number): Samples {
  const { count, first_ts, last_ts } = hours.columns
  const valuesOf = valuesOfKind[kind]
  const length = valuesOf === undefined ? 0 : count.reduce((sum, one) => sum + one, 0)
  if (length > samplesMax) throw new QueryFailed('TOO_LARGE', `more than ${samplesMax} expired values`)
  const samples = { timesMs: new Float64Array(length), values: new Float64Array(length) }
  if (valuesOf === undefined) return samples
  let at = 0
  for (let row = 0; row < count.length; row++) {
    const values = valuesOf(hourAt(hours, row))
    const [fromMs, toMs] = [(first_ts[row] as number) / 1000, (last_ts[row] as number) / 1000]
    if (values.length !== count[row]) throw bug(`${values.length} samples for an hour of ${count[row]} values`)
    for (const [place, value] of values.entries()) {
      const stepsMs = place === 0 ? 0 : ((toMs - fromMs) * place) / (values.length - 1)
      const isUnknown = kind === 'state' && place === 1 && value === unknownState
      samples.timesMs[at] = fromMs + (isUnknown ? Math.min(unknownAfterMs, stepsMs) : stepsMs)
      samples.values[at++] = value
    }
  }
  return samples
}

function hourAt({ columns }: KeptHours, row: number): Hour {
  return Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row] as number])) as Hour
}

const valuesOfKind: Partial<Record<MetricKind, (hour: Hour) => number[]>> = {
  counter: counterValues,
  rate: rateValues,
  state: stateValues,
}

/**
 * Equal steps from the first to the last value. An hour's resets become one. The largest value shows whether the first
 * or the last one is noise, and noise stays at its place.
 */
function counterValues({ count, first, last, increase, max }: Hour): number[] {
  if (count <= 2) return count === 1 ? [first] : [first, last]
  const isFirstNoise = increase < (max - first) * (1 - rounding)
  const base = isFirstNoise ? max - increase : first
  if (Math.abs(base + increase - max) <= rounding * Math.abs(max)) {
    const head = isFirstNoise ? [first] : []
    const tail = last < max * (1 - rounding) ? [last] : []
    const between = count - head.length - tail.length
    return [...head, ...(between === 1 ? [max] : steps(base, base + increase, between)), ...tail]
  }
  const top = Math.max(first, first + increase - last)
  if (count === 3 && top > first + rounding * Math.abs(max)) return [first, top, last]
  // A fall by half or more to a value above zero is a reset, whatever comes next.
  return [...steps(first, top, count - 2), Math.min(top, last) / 2, last]
}

/** Rounding error of sums of equal differences. */
const rounding = 1e-9

/**
 * Keeps the first value, whose interval may begin in the hour before, and the largest one. The others share the rest of
 * the sum.
 */
function rateValues({ count, mean, first, max }: Hour): number[] {
  if (count === 1) return [first]
  const hasLarger = max > first && count > 2
  const others = hasLarger ? count - 2 : count - 1
  const rest = (mean * count - first - (hasLarger ? max : 0)) / others
  return [first, ...(hasLarger ? [max] : []), ...Array.from({ length: others }, () => rest)]
}

/**
 * Starts of the hours of amounts whose largest value behind the full hour is unknown. There the largest is the full
 * hour's own, which belongs to the hour before, and the other values are more than two and unequal.
 */
export function startsWithoutMax(hours: KeptHours): Set<number> {
  return new Set(
    hours.startsMs.filter((startMs, row) => {
      const { count, mean, first, first_ts, min, max } = hourAt(hours, row)
      if (first_ts !== startMs * 1000 || max > first || count <= 2) return false
      // Equal values are each as large as the least of them.
      const rest = (mean * count - first) / (count - 1)
      return rest - min > rounding * Math.max(Math.abs(min), Math.abs(max))
    }),
  )
}

/** A state that changed within an hour is unknown directly after the first value: it may not have held for a step. */
const unknownAfterMs = 1

/** The times of changes between the first and the last state are unknown. */
function stateValues({ count, first, last, min, max }: Hour): number[] {
  if (count === 1) return [first]
  const between = min === max ? first : unknownState
  return [first, ...Array.from({ length: count - 2 }, () => between), last]
}

function steps(from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => (place === 0 ? from : from + ((to - from) * place) / (count - 1)))
}
