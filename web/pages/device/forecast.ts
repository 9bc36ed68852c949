/** The forecast in the charts of the last 24 hours and in their table. */

import type { Forecast } from '../../../query/shapes/forecast.ts'
import type { UnusualValues } from '../../../query/shapes/unusual.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { decimalText } from '../../text/numbers.ts'
import { nameWithUnit, type Quantities, type Quantity, shownValue, withUnit } from '../../text/quantities.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import { forecastOf, unusualOf } from './answers.ts'

/** Stored values of a gauge at the middle of each hour, ascending. */
export interface ForecastSeries {
  readonly timesMs: readonly number[]
  readonly medians: readonly number[]
  /** Four of five values are expected between these. */
  readonly lows: readonly number[]
  readonly highs: readonly number[]
  /** The usual range of the means of hours, up to now. */
  readonly usual: {
    readonly timesMs: readonly number[]
    readonly lows: readonly number[]
    readonly highs: readonly number[]
  }
}

/** The service's forecast and usual range. */
export interface Expected {
  readonly forecast: Forecast | undefined
  readonly unusual: UnusualValues | undefined
}

/** Keys are metrics. */
export type Forecasts = ReadonlyMap<string, ForecastSeries>

const hourMs = 3_600_000
/** Includes the running hour. More hours would take over a third of the width from the readings. */
const hoursMax = 12
/** The length of the charts. */
const usualMs = 24 * hourMs

/** Leaves out metrics without a forecast, and batteries, whose lifetime is estimated from weeks. */
export function forecastsIn({ forecast, unusual }: Expected, gauges: readonly string[], nowMs: number): Forecasts {
  const found = new Map<string, ForecastSeries>()
  for (const metric of gauges.filter(name => !name.startsWith('battery'))) {
    const ahead = forecast === undefined ? [] : (forecastOf(forecast, metric)?.hours ?? [])
    const hours = ahead.filter(({ t }) => t + hourMs > nowMs).slice(0, hoursMax)
    const before = unusual === undefined ? [] : (unusualOf(unusual, metric)?.hours ?? [])
    const band = before.filter(({ t }) => t + hourMs <= nowMs && t > nowMs - usualMs)
    if (hours.length === 0 && band.length === 0) continue
    found.set(metric, {
      timesMs: hours.map(({ t }) => middleOf(t)),
      medians: hours.map(({ median }) => median),
      lows: hours.map(({ low80 }) => low80),
      highs: hours.map(({ high80 }) => high80),
      usual: {
        timesMs: band.map(({ t }) => middleOf(t)),
        lows: band.map(({ low }) => low),
        highs: band.map(({ high }) => high),
      },
    })
  }
  return found
}

const middleOf = (startMs: number) => startMs + hourMs / 2

/** The end of the longest forecast, or undefined. */
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
  return t('{median} ({low} to {high})', {
    median: withUnit(median as string, quantity),
    low: low as string,
    high: high as string,
  })
}

/** Ascending: it is read from now on. */
export function forecastTable(forecasts: Forecasts, quantities: Quantities, times: Times): TwinTable {
  const columns = [...forecasts].flatMap(([metric, { timesMs, medians, lows, highs }]) => {
    const quantity = quantities.of(metric)
    return [
      { what: t('median'), stored: medians },
      { what: t('low'), stored: lows },
      { what: t('high'), stored: highs },
    ].map(({ what, stored }) => ({
      name: nameWithUnit({ ...quantity, name: `${quantity.name}: ${what}` }),
      decimals: quantity.decimals,
      values: new Map(timesMs.map((timeMs, place) => [timeMs, shownValue(stored[place] as number, quantity)])),
    }))
  })
  const timesMs = [...new Set([...forecasts.values()].flatMap(series => series.timesMs))].sort((a, b) => a - b)
  return {
    caption: t('Forecast of the mean of each hour, and between what four of five are expected'),
    headName: t('From'),
    columns,
    rows: timesMs.map(timeMs => ({
      key: timeMs,
      head: times.dateTime(timeMs - hourMs / 2),
      cells: columns.map(({ values }) => values.get(timeMs) ?? null),
    })),
  }
}
