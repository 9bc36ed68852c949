/** What the forecast says of the hours ahead, in the charts of the last 24 hours and in their table. */

import type { Forecast } from '../../../query/shapes/forecast.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { decimalText } from '../../text/numbers.ts'
import { nameWithUnit, type Quantities, type Quantity, shownValue, withUnit } from '../../text/quantities.ts'
import type { Times } from '../../theme/times.ts'
import { forecastOf } from './answers.ts'

/** Of a gauge, as values are stored; of the middle of each hour, ascending. */
export interface ForecastSeries {
  readonly timesMs: readonly number[]
  readonly medians: readonly number[]
  /** Four of five values are expected between these. */
  readonly lows: readonly number[]
  readonly highs: readonly number[]
}

/** By metric. */
export type Forecasts = ReadonlyMap<string, ForecastSeries>

const hourMs = 3_600_000
/** With the running one; more would take the readings more than a third of the width. */
const hoursMax = 12

/** Without the metrics that there is none of, and without batteries: for how long one lasts is estimated from weeks. */
export function forecastsIn(answer: Forecast | undefined, gauges: readonly string[], nowMs: number): Forecasts {
  const found = new Map<string, ForecastSeries>()
  if (answer === undefined) return found
  for (const metric of gauges.filter(name => !name.startsWith('battery'))) {
    const hours = (forecastOf(answer, metric)?.hours ?? []).filter(({ t }) => t + hourMs > nowMs).slice(0, hoursMax)
    if (hours.length === 0) continue
    found.set(metric, {
      timesMs: hours.map(({ t }) => middleOf(t)),
      medians: hours.map(({ median }) => median),
      lows: hours.map(({ low80 }) => low80),
      highs: hours.map(({ high80 }) => high80),
    })
  }
  return found
}

const middleOf = (startMs: number) => startMs + hourMs / 2

/** Where the last one ends; undefined where there is none. */
export function forecastEndMs(forecasts: Forecasts): number | undefined {
  const endsMs = [...forecasts.values()].flatMap(({ timesMs }) => timesMs.at(-1) ?? [])
  return endsMs.length === 0 ? undefined : Math.max(...endsMs)
}

/** `21.3 °C (19.8 to 22.9)`, of the hour that a moment is in; null where there is none. */
export function forecastText(series: ForecastSeries, atMs: number, quantity: Quantity): string | null {
  const place = series.timesMs.findIndex(timeMs => Math.abs(timeMs - atMs) <= hourMs / 2)
  if (place < 0) return null
  const text = (stored: number) => decimalText(shownValue(stored, quantity), quantity.decimals)
  const [median, low, high] = [series.medians, series.lows, series.highs].map(values => text(values[place] as number))
  return `${withUnit(median as string, quantity)} (${low} to ${high})`
}

/** Ascending: it is read from now on. */
export function forecastTable(forecasts: Forecasts, quantities: Quantities, times: Times): TwinTable {
  const columns = [...forecasts].flatMap(([metric, { timesMs, medians, lows, highs }]) => {
    const quantity = quantities.of(metric)
    return [
      { what: 'median', stored: medians },
      { what: 'low', stored: lows },
      { what: 'high', stored: highs },
    ].map(({ what, stored }) => ({
      name: nameWithUnit({ ...quantity, name: `${quantity.name}: ${what}` }),
      decimals: quantity.decimals,
      values: new Map(timesMs.map((timeMs, place) => [timeMs, shownValue(stored[place] as number, quantity)])),
    }))
  })
  const timesMs = [...new Set([...forecasts.values()].flatMap(series => series.timesMs))].sort((a, b) => a - b)
  return {
    caption: 'Forecast of the mean of each hour, and between what four of five are expected',
    headName: 'From',
    columns,
    rows: timesMs.map(timeMs => ({
      key: timeMs,
      head: times.dateTime(timeMs - hourMs / 2),
      cells: columns.map(({ values }) => values.get(timeMs) ?? null),
    })),
  }
}
