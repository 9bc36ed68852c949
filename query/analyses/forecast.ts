/** `forecast`: the next 48 hours of each gauge. */

import {
  type Forecast,
  type ForecastInput,
  forecast,
  forecastDaysMin,
  forecastShareMin,
  historyOf,
} from '../../analytics/forecast/forecast.ts'
import { horizonHours } from '../../analytics/forecast/models.ts'
import { reasons } from '../../analytics/reasons.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { metrics as columns } from '../../store/tables.ts'
import { units } from '../series.ts'
import { Forecast as ForecastShape } from '../shapes/forecast.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type CustomHow, defineAnalysis } from './analysis.ts'
import { type Lacking, verdictOf } from './answer-text.ts'
import { gaugesText, type HoursQuery, hourMs, localHoursOf, readGaugeHours, startsOf } from './gauge-hours.ts'
import { MomentParameters, momentHow } from './parameters.ts'

export const forecastAnalysis = defineAnalysis({
  path: 'forecast',
  title: 'forecast',
  summary: () => 'The next 48 hours of each gauge, with intervals of 80 and 95 %',
  parameters: MomentParameters,
  answer: ForecastShape.meta({ id: 'Forecast' }),
  always: columns,
  how: momentHow,
  pools: ['long'],
  untilMs: hourMs,
  compute: (query: CustomHow & Asked, context) => answerForecast(query, context),
})

/** Older values say little of tomorrow. */
const historyHours = 56 * 24

/** Starts with the running hour, which is not known completely yet. */
export async function answerForecast(query: HoursQuery, context: TaskContext): Promise<string> {
  const { local } = context
  const originMs = Math.floor(query.nowMs / hourMs) * hourMs
  const grid = { startMs: originMs - historyHours * hourMs, hours: historyHours }
  const hours = await readGaugeHours(query, grid, context)
  const localHours = localHoursOf(grid, local, horizonHours)
  const starts = startsOf({ startMs: originMs, hours: horizonHours })
  const unitOf = (name: string) => {
    return hours.custom.find(one => one.name === name)?.unit ?? (units as Readonly<Record<string, string>>)[name]
  }
  return gaugesText({ ...query, local }, hours, (hourly, name) => {
    const input = { hourly, localHours, ...rangeOf(unitOf(name)) }
    const found = forecast(input)
    const verdict = verdictOf(momentsOf(hourly), found === null ? lackOf(hourly) : null)
    if (verdict.status !== 'ok' || found === null) return { ...verdict, hours: [], back_test: null }
    const textOf = (timeMs: number) => local.text(timeMs * 1000)
    return { ...verdict, hours: hoursOf(found, starts, textOf), back_test: backTestOf(found) }
  })
}

/** Shares stay within 0 to 100. The bounds of other units are unknown. */
function rangeOf(unit: string | undefined): Pick<ForecastInput, 'range'> {
  return unit === '%' ? { range: [0, 100] } : {}
}

function lackOf(hourly: Float64Array): Lacking {
  const { days, share } = historyOf(hourly)
  return days < forecastDaysMin
    ? { reason: reasons.shortHistory, needed: forecastDaysMin, found: days }
    : { reason: reasons.sparseHours, needed: forecastShareMin, found: share }
}

function hoursOf(
  { median, low80, high80, low95, high95 }: Forecast,
  starts: Float64Array,
  textOf: (ms: number) => string,
) {
  return Array.from(starts, (startMs, hour) => ({
    t: startMs,
    median: median[hour],
    low80: low80[hour],
    high80: high80[hour],
    low95: low95[hour],
    high95: high95[hour],
    d: textOf(startMs),
  }))
}

function backTestOf({ backTest: { origins, mase, maseRatio, coverage80, coverage95 } }: Forecast) {
  return { origins, mase, mase_ratio: maseRatio, coverage80, coverage95 }
}
