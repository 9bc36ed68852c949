/** `domain`: figures that depend on a device's profile, in total and by local day. */

import { z } from 'zod'
import { greenhouseFigures, indoorFigures, weatherFigures } from '../../analytics/domain/air-profiles.ts'
import { coldChainFigures } from '../../analytics/domain/cold-chain.ts'
import { type AirHours, type CellRange, hoursBetween } from '../../analytics/domain/figures.ts'
import { isColdChain, outdoorMetric } from '../../analytics/domain/profile.ts'
import { presentOf } from '../../analytics/present.ts'
import { type LocalDay, localDays } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { metrics as columns } from '../../store/tables.ts'
import { bandOfGoods } from '../analysed-device.ts'
import { DomainFigures } from '../shapes/domain.ts'
import type { TaskContext } from '../task-context.ts'
import type { CustomHow } from './analysis.ts'
import { type Asked, type AskedWindow, defineAnalysis } from './analysis.ts'
import { answerContext } from './answer-text.ts'
import { deviceCadence, earlierTimes } from './device-cadence.ts'
import type { HoursQuery } from './gauge-hours.ts'
import { type HoursGrid, hourMs, readGaugeHours, startsOf } from './gauge-hours.ts'
import { checkWindow, windowFields, windowOf } from './parameters.ts'

const daysUsual = 30

type DomainHow = CustomHow & AskedWindow
/** `custom` contains the outdoor temperature where the device measures it. */
export type DomainQuery = HoursQuery & AskedWindow

export const domainAnalysis = defineAnalysis({
  path: 'domain',
  title: 'domain_figures',
  summary: noun => `Figures for the domain of the ${noun}`,
  description: 'Domain of its profile; local days. Their definitions are at /docs/statistics.',
  parameters: z.object(windowFields(1, daysUsual)).superRefine(checkWindow),
  answer: DomainFigures.meta({ id: 'DomainFigures' }),
  always: columns,
  select: ({ name }) => name === outdoorMetric,
  how: asked => windowOf(asked, daysUsual),
  pools: ['long'],
  untilMs: hourMs,
  compute: (query: DomainHow & Asked, context) => answerDomain(query, context),
})

const dayMs = 24 * hourMs
/** A longer range uses the means of hours. */
const readingsDaysMax = 31

interface Range {
  readonly startMs: number
  readonly endMs: number
  /** The days cover the range, in whole hours. */
  readonly days: readonly LocalDay[]
}

export async function answerDomain(query: DomainQuery, context: TaskContext): Promise<string> {
  const { device, nowMs } = query
  const { local } = context
  const range = rangeOf(query, local)
  const none = { weather: null, indoor: null, cold_chain: null, greenhouse: null }
  const part = await partOf(query, range, context)
  return JSON.stringify({
    device: device.name,
    ...answerContext(local, nowMs),
    profile: device.profile,
    start: local.text(range.startMs * 1000),
    end: local.text(range.endMs * 1000),
    ...none,
    ...(device.profile === 'none' ? {} : { [isColdChain(device.profile) ? 'cold_chain' : device.profile]: part }),
  })
}

/** Whole UTC hours up to the running one. Without a start it begins with a local day. */
function rangeOf({ startMs: asked, days: count, nowMs }: DomainQuery, local: LocalTime): Range {
  const endMs = Math.floor(nowMs / hourMs) * hourMs
  const first = localDays(local, endMs - 1, Math.ceil(count))[0]?.startMs ?? endMs
  const startMs = Math.min(endMs, asked === undefined ? hourOf(first) : Math.floor(asked / hourMs) * hourMs)
  const inRange = (timeMs: number) => Math.min(Math.max(hourOf(timeMs), startMs), endMs)
  const days = localDays(local, endMs - 1, Math.ceil((endMs - startMs) / dayMs) + 2)
    .map(({ date, ...day }) => ({ date, startMs: inRange(day.startMs), endMs: inRange(day.endMs) }))
    .filter(day => day.startMs < day.endMs)
  return { startMs, endMs, days }
}

/** An hour belongs to the day that has its middle: in some zones days begin at half past. */
function hourOf(dayStartMs: number): number {
  return Math.ceil(dayStartMs / hourMs - 0.5) * hourMs
}

type DayFigures = (range: CellRange, days: readonly CellRange[]) => object

async function partOf(query: DomainQuery, range: Range, context: TaskContext): Promise<object | undefined> {
  const { profile, altitude_m } = query.device
  if (profile === 'none') return undefined
  if (isColdChain(profile)) return coldChainPart(query, range, context)
  const grid = gridOf(range)
  const hours = await airHours(query, grid, context)
  const figuresOf: DayFigures =
    profile === 'weather'
      ? (cells, days) => weatherFigures(hoursBetween(hours, cells), days, altitude_m)
      : profile === 'indoor'
        ? cells => indoorFigures(hoursBetween(hours, cells))
        : cells => greenhouseFigures(hoursBetween(hours, cells))
  const days = range.days.map(day => cellsOf(day, grid))
  return {
    total: figuresOf({ from: 0, to: grid.hours }, days),
    days: days.map((cells, day) => {
      const ofDay = figuresOf(cells, [{ from: 0, to: cells.to - cells.from }])
      return { date: range.days[day]?.date, ...ofDay }
    }),
  }
}

function gridOf({ startMs, endMs }: Range): HoursGrid {
  return { startMs, hours: (endMs - startMs) / hourMs }
}

function cellsOf({ startMs, endMs }: LocalDay, grid: HoursGrid): CellRange {
  return { from: (startMs - grid.startMs) / hourMs, to: (endMs - grid.startMs) / hourMs }
}

async function airHours(query: DomainQuery, grid: HoursGrid, context: TaskContext): Promise<AirHours> {
  const { gauges } = await readGaugeHours(query, grid, context)
  const { temperature, humidity, pressure, [outdoorMetric]: outdoors } = gauges
  const missing = new Float64Array(grid.hours).fill(Number.NaN)
  return {
    temperature: temperature ?? missing,
    humidity: humidity ?? missing,
    pressure: pressure ?? missing,
    outdoorTemperature: outdoors ?? missing,
  }
}

async function coldChainPart(query: DomainQuery, range: Range, context: TaskContext): Promise<object> {
  const isHourly = range.endMs - range.startMs > readingsDaysMax * dayMs
  const read = isHourly ? await readHours(query, range, context) : await readReadings(query, range, context)
  const band = bandOfGoods(query.device)
  const { total, days } = coldChainFigures(
    { ...read, startMs: range.startMs, endMs: range.endMs, isHourly, band },
    range.days,
  )
  return { total, days: days.map((figures, day) => ({ date: range.days[day]?.date, ...figures })) }
}

async function readHours(query: DomainQuery, range: Range, context: TaskContext) {
  const grid = gridOf(range)
  const { temperature } = await airHours(query, grid, context)
  return { samples: presentOf(startsOf(grid), temperature), gaps: [] }
}

/** Includes readings of the hour before, because one of them may hold at the start. */
async function readReadings({ device }: DomainQuery, { startMs, endMs }: Range, context: TaskContext) {
  const { source, signal, rowsMax } = context
  const afterUs = (startMs - hourMs) * 1000 - 1
  const throughUs = endMs * 1000 - 1
  const [series, earlierMs] = await Promise.all([
    source.series({ symbol: device.symbol, afterUs, throughUs, rowsMax }, signal),
    earlierTimes(device, afterUs, context),
  ])
  const { stretches: gaps } = deviceCadence(device, earlierMs, series.timesMs)
  return { samples: presentOf(series.timesMs, series.values.temperature), gaps }
}
