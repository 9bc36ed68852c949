/** Local calendar days and hours. Their edges come from the calendar: a day may have 23 or 25 hours. */

import type { Bucket } from '../summary/aggregates.ts'
import { formatDate, parseDate } from './calendar.ts'
import type { LocalTime } from './local-time.ts'

/** `[startMs, endMs)` of the day `YYYY-MM-DD`; empty for a day that the zone skipped. */
export interface LocalDay {
  readonly date: string
  readonly startMs: number
  readonly endMs: number
}

/** The day that contains this moment and the days before it, `count` in total, oldest first. */
export function localDays(local: LocalTime, untilMs: number, count: number): LocalDay[] {
  const today = parseDate(local.text(untilMs * 1000).slice(0, 10))
  if (today === undefined) throw new RangeError(`${untilMs} is outside the calendar`)
  return Array.from({ length: count }, (_, index) => {
    const date = formatDate(today - count + 1 + index)
    const range = local.day(date)
    if (range === undefined) throw new RangeError(`${date} is outside the calendar`)
    return { date, startMs: range.startUs / 1000, endMs: range.endUs / 1000 }
  })
}

const minuteMs = 60_000

export interface LocalHour extends Bucket {
  /** 0 … 23 on the local clock. */
  readonly hour: number
  readonly text: string
}

/** One for each real hour: when the clocks go forward a label is missing, when they go back one comes twice. */
export function localHours(local: LocalTime, day: Bucket): LocalHour[] {
  const hours: LocalHour[] = []
  let startMs = day.startMs
  while (startMs < day.endMs) {
    const text = local.text(startMs * 1000)
    // Where clocks change by half an hour, one entry lasts half an hour, and the others keep to full hours.
    const endMs = Math.min(day.endMs, startMs + (60 - Number(text.slice(14))) * minuteMs)
    hours.push({ hour: Number(text.slice(11, 13)), text, startMs, endMs })
    startMs = endMs
  }
  return hours
}

const hourMs = 3_600_000
/** 1970-01-01 was a Thursday, 72 hours after the start of its week. */
const hoursBeforeEpoch = 72

/**
 * 0 is Monday from 00:00 to 01:00 on the local clock, 167 the last hour of Sunday; the hour of the day is this modulo
 * 24. The hour that repeats when the clocks go back gets one label. Times are epoch milliseconds.
 */
export function hoursOfWeek(timesMs: Float64Array, local: Pick<LocalTime, 'offsetMs'>): Uint8Array {
  const hours = new Uint8Array(timesMs.length)
  for (let index = 0; index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    const hour = (Math.floor((timeMs + local.offsetMs(timeMs)) / hourMs) + hoursBeforeEpoch) % 168
    hours[index] = hour < 0 ? hour + 168 : hour
  }
  return hours
}

export function hoursOfDay(weekHours: Uint8Array): Uint8Array {
  return weekHours.map(hour => hour % 24)
}
