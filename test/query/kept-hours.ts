/** What is kept of the hours of expired values. */

import { counterIncrease } from '../../analytics/counter/counter-increase.ts'
import type { Samples } from '../../analytics/present.ts'
import type { KeptHours } from '../../query/questdb/measurements-source.ts'
import { type SeriesHourColumn, seriesHourColumns } from '../../store/tables.ts'

const hourMs = 3_600_000

/** What `seriesHourColumns` but those of directions are of these samples, ascending, hour by hour. */
export function keptHoursOf({ timesMs, values }: Samples): KeptHours {
  const startOf = (timeMs: number) => timeMs - (timeMs % hourMs)
  const starts = [...new Set(Array.from(timesMs, startOf))]
  const rows = starts.map(startMs => {
    const isOfHour = (_: number, index: number) => startOf(timesMs[index] as number) === startMs
    return figuresOf(timesMs.filter(isOfHour), values.filter(isOfHour))
  })
  const columns = seriesHourColumns.map(({ name }) => [name, Float64Array.from(rows, row => row[name] ?? Number.NaN)])
  return { startsMs: Float64Array.from(starts), columns: Object.fromEntries(columns) }
}

function figuresOf(timesMs: Float64Array, values: Float64Array): Partial<Record<SeriesHourColumn, number>> {
  return {
    count: values.length,
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    min: Math.min(...values),
    max: Math.max(...values),
    first: values[0] as number,
    first_ts: (timesMs[0] as number) * 1000,
    last: values.at(-1) as number,
    last_ts: (timesMs.at(-1) as number) * 1000,
    increase: counterIncrease({ timesMs, values }).increase ?? 0,
  }
}
