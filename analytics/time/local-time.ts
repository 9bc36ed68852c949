/**
 * Local time in one IANA zone: the text of a moment, and the moments between which a local day lies. Computations use
 * UTC. The zone is applied last, because its clock repeats or skips an hour twice a year.
 */

import { formatDate, parseDate, twoDigits } from './calendar.ts'
import { ZoneOffsets } from './zone-offsets.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
/** Clocks are never further from UTC than this, and never were. */
const offsetMaxDays = 1

const clockTexts = Array.from({ length: 1440 }, (_, minute) => {
  return ` ${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}`
})

/** `[startUs, endUs)`; 23 or 25 hours long when the clocks change, empty for a day that the zone skipped. */
interface DayRange {
  readonly startUs: number
  readonly endUs: number
}

export interface LocalTime {
  /** The zone's IANA name, as given. */
  readonly timeZone: string
  /** Offset of the local clock from UTC at a moment, both in milliseconds. */
  offsetMs(timeMs: number): number
  /** `YYYY-MM-DD HH:mm` of a moment in microseconds since 1970. */
  text(timeUs: number): string
  /** The local calendar day `YYYY-MM-DD`, or undefined for an invalid date. */
  day(date: string): DayRange | undefined
}

/** Throws a RangeError for an unknown zone. */
export function createLocalTime(timeZone: string): LocalTime {
  const offsets = new ZoneOffsets(timeZone)
  // A series stays within one local day for long, so its date is formatted once.
  let lastDay = Number.NaN
  let lastDate = ''

  function text(timeUs: number): string {
    const timeMs = Math.floor(timeUs / 1000)
    const localMs = timeMs + offsets.at(timeMs)
    const day = Math.floor(localMs / dayMs)
    if (day !== lastDay) {
      lastDay = day
      lastDate = formatDate(day)
    }
    return lastDate + clockTexts[Math.floor((localMs - day * dayMs) / minuteMs)]
  }

  function day(date: string): DayRange | undefined {
    const number = parseDate(date)
    if (number === undefined) return undefined
    return { startUs: startOfDay(number) * 1000, endUs: startOfDay(number + 1) * 1000 }
  }

  /** The first moment at which the local clock shows this day or a later one: midnight may be skipped or come twice. */
  function startOfDay(number: number): number {
    const midnightMs = number * dayMs
    for (let utcDay = number - offsetMaxDays; utcDay <= number + offsetMaxDays; utcDay++) {
      for (const { fromMs, untilMs, offsetMs } of offsets.day(utcDay)) {
        const startMs = Math.max(fromMs, midnightMs - offsetMs)
        if (startMs < untilMs) return startMs
      }
    }
    throw new RangeError(`${timeZone} has no start of ${formatDate(number)}`)
  }

  return { timeZone, offsetMs: timeMs => offsets.at(timeMs), text, day }
}
