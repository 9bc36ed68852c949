/** `normal`: compares each gauge's newest full hour with its usual values at that hour. */

import { type Normal, normalDaysMin, normalFor } from '../../analytics/normal/normal.ts'
import { reasons } from '../../analytics/reasons.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { metrics as columns } from '../../store/tables.ts'
import { NormalValues } from '../shapes/normal.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type CustomHow, defineAnalysis } from './analysis.ts'
import type { HoursQuery } from './gauge-hours.ts'
import { gaugesText, type HoursGrid, hourMs, localHoursOf, readGaugeHours, startsOf } from './gauge-hours.ts'
import { MomentParameters, momentHow } from './parameters.ts'

export const normalAnalysis = defineAnalysis({
  path: 'normal',
  title: 'normal_values',
  summary: () => 'Whether each gauge is usual for the hour of day',
  parameters: MomentParameters,
  answer: NormalValues.meta({ id: 'NormalValues' }),
  always: columns,
  how: momentHow,
  pools: ['light'],
  untilMs: hourMs,
  compute: (query: CustomHow & Asked, context) => answerNormal(query, context),
})

const dayMs = 24 * hourMs
const historyHours = 3 * 366 * 24

export async function answerNormal(query: HoursQuery, context: TaskContext): Promise<string> {
  const { local } = context
  // The mean of the incomplete running hour is not comparable with means of full hours.
  const endMs = Math.floor(query.nowMs / hourMs) * hourMs
  const grid = { startMs: Math.max(0, endMs - historyHours * hourMs), hours: historyHours }
  const hours = await readGaugeHours(query, grid, context)
  const times = timesOf(grid, local)
  return gaugesText({ ...query, local }, hours, hourly => partOf(hourly, grid, times, local))
}

interface Times {
  readonly localHours: Uint8Array
  readonly localDays: Int32Array
  readonly yearDays: Uint16Array
}

function timesOf(grid: HoursGrid, local: LocalTime): Times {
  const starts = startsOf(grid)
  const localDays = Int32Array.from(starts, timeMs => Math.floor((timeMs + local.offsetMs(timeMs)) / dayMs))
  return { localHours: localHoursOf(grid, local), localDays, yearDays: Uint16Array.from(localDays, yearDayOf) }
}

/** Days 0 … 365 of the year, from a day's number since 1970. */
function yearDayOf(day: number): number {
  const year = new Date(day * dayMs).getUTCFullYear()
  return day - Date.UTC(year, 0, 1) / dayMs
}

function partOf(hourly: Float64Array, grid: HoursGrid, times: Times, local: LocalTime) {
  const cell = hourly.findLastIndex(value => !Number.isNaN(value))
  if (cell < 0)
    return { status: 'no_data', reason: reasons.noValue, lack: null, value: null, at: null, ...figures(null) }
  const value = hourly[cell] as number
  const at = {
    localHour: times.localHours[cell] as number,
    localDay: times.localDays[cell] as number,
    yearDay: times.yearDays[cell] as number,
  }
  const normal = normalFor({ hourly, ...times, at, value })
  const verdict =
    normal === null
      ? { status: 'insufficient_data', reason: reasons.fewSameHours, lack: lackOf(hourly, times, at.localHour) }
      : { status: 'ok', reason: null, lack: null }
  return { ...verdict, value, at: local.text((grid.startMs + cell * hourMs) * 1000), ...figures(normal) }
}

/** Number of earlier days with this hour. */
function lackOf(hourly: Float64Array, { localHours }: Times, localHour: number) {
  const same = hourly.filter((value, cell) => localHours[cell] === localHour && !Number.isNaN(value))
  return { needed: normalDaysMin, found: Math.max(0, same.length - 1) }
}

function figures(normal: Normal | null) {
  return {
    percentile: normal?.percentile ?? null,
    low: normal?.low ?? null,
    median: normal?.median ?? null,
    high: normal?.high ?? null,
    days: normal?.days ?? 0,
    days_lower: normal?.daysLower ?? 0,
    days_equal: normal?.daysEqual ?? 0,
    basis: normal?.basis ?? null,
  }
}
