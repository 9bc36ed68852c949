/** Ticks of the axes of a chart: times, values, and the range of the values. */

import { decimalText } from '../text/numbers.ts'
import { dayMs, type Zone } from '../text/zone.ts'
import { locales } from '../theme/times.ts'
import { words } from '../words/words.ts'
import type { ChartContent } from './panel.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const quarterMs = 15 * minuteMs

interface Tick {
  readonly atMs: number
  readonly text: string
}

const minuteSteps = [1, 2, 5, 15, 30]
const hourSteps = [1, 2, 3, 6, 12]
const daySteps = [1, 2, 7, 14]
const monthSteps = [1, 3, 6]

/** At most `countMax` ticks, plus one or two where days are not 24 hours long. */
export function timeTicks(zone: Zone, fromMs: number, toMs: number, countMax: number): Tick[] {
  const spacingMs = (toMs - fromMs) / Math.max(1, countMax)
  const minutes = minuteSteps.find(step => step * minuteMs >= spacingMs)
  if (minutes !== undefined) return clockTicks(zone, fromMs, toMs, minutes * minuteMs)
  const hours = hourSteps.find(step => step * hourMs >= spacingMs)
  if (hours !== undefined) return clockTicks(zone, fromMs, toMs, hours * hourMs)
  const days = daySteps.find(step => step * dayMs >= spacingMs)
  if (days !== undefined) return dayTicks(zone, fromMs, toMs, day => (day - monday) % days === 0)
  const months = monthSteps.find(step => step * 30 * dayMs >= spacingMs) ?? 12
  return dayTicks(zone, fromMs, toMs, day => isMonthStart(day, months))
}

/** 1970-01-05 was one. */
const monday = 4

function isMonthStart(day: number, months: number): boolean {
  const date = new Date(day * dayMs)
  return date.getUTCDate() === 1 && date.getUTCMonth() % months === 0
}

/** The moments at which the clock shows a multiple of the step; of an hour that is repeated, the first. */
function clockTicks(zone: Zone, fromMs: number, toMs: number, stepMs: number): Tick[] {
  const ticks: Tick[] = []
  const pieceMs = Math.min(stepMs, quarterMs)
  const texts = clockTexts(zone)
  let lastLocalMs = Number.NEGATIVE_INFINITY
  for (let atMs = Math.ceil(fromMs / pieceMs) * pieceMs; atMs <= toMs; atMs += pieceMs) {
    const localMs = atMs + zone.offsetMs(atMs)
    if (localMs % stepMs !== 0 || (stepMs > hourMs && localMs <= lastLocalMs)) continue
    lastLocalMs = localMs
    const isDay = localMs % dayMs === 0
    ticks.push({ atMs, text: isDay ? texts.day(atMs) : texts.clock(atMs) })
  }
  return ticks
}

function dayTicks(zone: Zone, fromMs: number, toMs: number, has: (day: number) => boolean): Tick[] {
  const ticks: Tick[] = []
  const { date, year, month } = clockTexts(zone)
  const isLong = toMs - fromMs > 100 * dayMs
  for (let day = zone.dayOf(fromMs); day <= zone.dayOf(toMs); day++) {
    if (!has(day)) continue
    const atMs = zone.dayStartMs(day)
    if (atMs < fromMs || atMs > toMs) continue
    const isYear = isMonthStart(day, 12)
    ticks.push({ atMs, text: isYear ? year(atMs) : isLong ? month(atMs) : date(atMs) })
  }
  return ticks
}

function clockTexts({ name: timeZone }: Zone) {
  const written = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locales[words.language], { timeZone, ...options })
    return (atMs: number) => format.format(atMs)
  }
  return {
    clock: written({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    day: written({ weekday: 'short', day: 'numeric', month: 'short' }),
    date: written({ day: 'numeric', month: 'short' }),
    month: written({ month: 'short' }),
    year: written({ year: 'numeric' }),
  }
}

/** The text has the decimals of the axis steps: 2.5 between 0 and 5 is not shown as 3. */
export function axisText(value: number, splits: readonly number[], decimals: number): string {
  const step = splits.length > 1 ? Math.abs((splits[1] as number) - (splits[0] as number)) : 1
  const isWritten = (places: number) => Math.abs(step - Number(step.toFixed(places))) < step / 1e6
  let needed = 0
  while (needed <= decimals && !isWritten(needed)) needed++
  return decimalText(value, needed)
}

/** Multiples of ten, the easiest to read first. */
const steps = [1, 2, 5, 2.5, 4, 3, 1.5, 6, 8]
const ticksMax = 5

/** Four or five round values between the ends of an axis; three where no round step fits. */
export function valueTicks(low: number, high: number): number[] {
  const span = high - low
  if (!(span > 0 && Number.isFinite(span))) return []
  const power = 10 ** (Math.floor(Math.log10(span)) - 1)
  const sizes = [...steps, ...steps.map(step => 10 * step)].map(step => step * power)
  const all = sizes.map(size => multiplesIn(low, high, size)).filter(({ length }) => length <= ticksMax)
  const most = Math.max(...all.map(({ length }) => length))
  return all.find(({ length }) => length >= Math.min(most, ticksMax - 1)) ?? []
}

function multiplesIn(low: number, high: number, size: number): number[] {
  const [first, last] = [Math.ceil(low / size - 1e-9), Math.floor(high / size + 1e-9)]
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) =>
    Number(((first + place) * size).toPrecision(12)),
  )
}

/** The range of visible values. Small variations are not stretched to the full height, and rules are always visible. */
export function valueRange(
  min: number | null,
  max: number | null,
  {
    rules = [],
    decimals,
    isFromZero = false,
    range,
  }: Pick<ChartContent, 'rules' | 'decimals' | 'isFromZero' | 'range'>,
): [number, number] {
  if (range !== undefined) return [...range]
  const values = [min, max, ...rules.map(({ value }) => value)].filter(
    value => value !== null && Number.isFinite(value),
  )
  if (values.length === 0) return [0, 1]
  if (isFromZero) values.push(0)
  const [low, high] = [Math.min(...(values as number[])), Math.max(...(values as number[]))]
  const least = 10 * 10 ** -decimals
  const margin = Math.max((high - low) * 0.06, (least - (high - low)) / 2)
  // Values on the other side of 0 get a margin, too.
  return [isFromZero && low === 0 ? 0 : low - margin, isFromZero && high === 0 && low < 0 ? 0 : high + margin]
}
