/** Hourly aggregates of expired values. */

import { increaseAt } from '../../analytics/counter/counter-increase.ts'
import type { Samples } from '../../analytics/present.ts'
import type { KeptHours } from '../../query/questdb/measurements-source.ts'
import { type SeriesHourColumn, seriesHourColumns } from '../../store/tables.ts'

const hourMs = 3_600_000

/** Returns `seriesHourColumns` of ascending samples by hour, except columns of directions. */
export function keptHoursOf({ timesMs, values }: Samples): KeptHours {
  const startOf = (timeMs: number) => timeMs - (timeMs % hourMs)
  const starts = [...new Set(Array.from(timesMs, startOf))]
  const rows = starts.map(startMs => {
    const isOfHour = (_: number, index: number) => startOf(timesMs[index] as number) === startMs
    const from = timesMs.findIndex(timeMs => startOf(timeMs) === startMs)
    const figures = figuresOf(timesMs.filter(isOfHour), values.filter(isOfHour))
    return { ...figures, increase: increaseWithin(values, from, from + figures.count) }
  })
  const columns = seriesHourColumns.map(({ name }) => [name, Float64Array.from(rows, row => row[name] ?? Number.NaN)])
  return { startsMs: Float64Array.from(starts), columns: Object.fromEntries(columns) }
}

function figuresOf(
  timesMs: Float64Array,
  values: Float64Array,
): Partial<Record<SeriesHourColumn, number>> & { count: number } {
  return {
    count: values.length,
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    min: Math.min(...values),
    max: Math.max(...values),
    first: values[0] as number,
    first_ts: (timesMs[0] as number) * 1000,
    last: values.at(-1) as number,
    last_ts: (timesMs.at(-1) as number) * 1000,
  }
}

/** Leaves out the increase of the hour's first value, also if the second value shows it. */
function increaseWithin(values: Float64Array, from: number, to: number): number {
  let sum = 0
  for (let at = from + 1; at < to; at++) {
    const known = [...values.subarray(Math.max(0, at - 2), at + 1)]
    sum += increaseAt(known)
    if (at === from + 1 && known.length === 3) sum -= confirmed(known)
  }
  return sum
}

/** A small fall is a reset if the next value confirms it. */
function confirmed([earlier, before, value]: readonly number[]): number {
  const [a, b, c] = [earlier as number, before as number, value as number]
  const isSmallFall = b < a * (1 - 1e-9) && b > a * 0.900000001
  return isSmallFall && c < a * (1 - 1e-9) ? b : 0
}
