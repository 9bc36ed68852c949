/**
 * Local time in one IANA zone: the text of a moment, and the moments between which a local day lies. Computations use
 * UTC. The zone is applied last, because its clock repeats or skips an hour twice a year.
 */

import { formatDate, parseDate, twoDigits } from './calendar.ts'

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

/**
 * The offset of a time zone's clock from UTC. The platform is queried twice per UTC day, and once per halving where the
 * two answers differ, instead of once per point: such a call costs over a microsecond, a lookup here some nanoseconds.
 */

/** The limit is about 110 years of days. Beyond it everything is queried again. */
const daysKeptMax = 40_000

/** A stretch of time with one offset; `untilMs` is not included. */
interface OffsetRange {
  readonly fromMs: number
  readonly untilMs: number
  readonly offsetMs: number
}

/** Offsets of one zone, cached by UTC day. */
export class ZoneOffsets {
  readonly #format: Intl.DateTimeFormat
  readonly #days = new Map<number, readonly OffsetRange[]>()
  #last: OffsetRange = { fromMs: 0, untilMs: 0, offsetMs: 0 }

  /** Throws a RangeError for an unknown zone. */
  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  }

  at(timeMs: number): number {
    const last = this.#last
    if (timeMs >= last.fromMs && timeMs < last.untilMs) return last.offsetMs
    for (const range of this.day(Math.floor(timeMs / dayMs))) {
      if (timeMs < range.untilMs) {
        this.#last = range
        return range.offsetMs
      }
    }
    throw new RangeError(`no offset for ${timeMs}`)
  }

  /** The one or two ranges of a UTC day, in order. Zones have never changed their clocks twice within one. */
  day(number: number): readonly OffsetRange[] {
    const known = this.#days.get(number)
    if (known !== undefined) return known
    if (this.#days.size >= daysKeptMax) this.#days.clear()
    const ranges = this.#measure(number * dayMs, (number + 1) * dayMs)
    this.#days.set(number, ranges)
    return ranges
  }

  #measure(fromMs: number, untilMs: number): readonly OffsetRange[] {
    const before = this.#ask(fromMs)
    const after = this.#ask(untilMs)
    if (before === after) return [{ fromMs, untilMs, offsetMs: before }]
    // Halve down to the second of the change. `late` already has the new offset, so a change at the very end of the
    // day is the next day's and leaves one range here.
    let early = fromMs / 1000
    let late = untilMs / 1000
    while (late - early > 1) {
      const middle = Math.floor((early + late) / 2)
      if (this.#ask(middle * 1000) === before) early = middle
      else late = middle
    }
    const changeMs = late * 1000
    if (changeMs === untilMs) return [{ fromMs, untilMs, offsetMs: before }]
    return [
      { fromMs, untilMs: changeMs, offsetMs: before },
      { fromMs: changeMs, untilMs, offsetMs: after },
    ]
  }

  /** The platform's answer, as `GMT`, `GMT+05:30` or, long ago, `GMT-00:44:30`. */
  #ask(timeMs: number): number {
    const name = this.#format.formatToParts(timeMs).find(part => part.type === 'timeZoneName')?.value ?? ''
    const parts = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(name)
    if (parts === null) throw new RangeError(`unknown offset format ${name}`)
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = parts
    const sizeMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -sizeMs : sizeMs
  }
}

/** More than the number of zones, whose names are validated anyway. */
const zonesMax = 1_000

export type LocalTimes = (timeZone: string) => LocalTime

/** The local times of time zones, each created on first use, because it caches its lookups. */
export function createLocalTimes(): LocalTimes {
  const byZone = new Map<string, LocalTime>()
  return timeZone => {
    const known = byZone.get(timeZone)
    if (known !== undefined) return known
    if (byZone.size >= zonesMax) byZone.clear()
    const local = createLocalTime(timeZone)
    byZone.set(timeZone, local)
    return local
  }
}
