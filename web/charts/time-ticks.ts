/** Positions and labels of ticks on a time axis by the wall clock of a zone, also where its offset changes. */

import { dayMs, type Zone } from '../text/zone.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const quarterMs = 15 * minuteMs

export interface Tick {
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
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, ...options })
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
