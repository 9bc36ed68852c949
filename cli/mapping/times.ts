/** Times of foreign files: with or without a zone, as dates in several orders, and as counts since 1970. */

import { ZoneOffsets } from '../../analytics/time/local-time.ts'
import { daysInMonth, daysSinceEpoch, plainTimeText, readZonedTimeText, zoneAtEndOf } from '../../store/time-text.ts'
import { CommandError, exitUsage } from '../command-error.ts'

/** `auto` knows ISO 8601, dates that begin with the year, and counts by their digits. */
export const timeFormats = ['auto', 'mdy', 'dmy', 's', 'ms', 'us', 'ns'] as const
export type TimeFormat = (typeof timeFormats)[number]

/** The orders of dates that begin with neither the year nor a count. */
export const dayOrders = ['mdy', 'dmy'] as const
export type DayOrder = (typeof dayOrders)[number]

/** Epoch microseconds of a local time, as if its clock had UTC. */
interface TimeRead {
  readonly us: number
  readonly isLocal: boolean
}

/** A string is a sentence that says why the text is not a time. */
export type ReadTime = (text: string) => TimeRead | string

export function isTimeFormat(text: string): text is TimeFormat {
  return timeFormats.some(format => format === text)
}

/** `order`: of dates that `auto` does not know. */
export function createTimeReader(format: TimeFormat, order?: DayOrder): ReadTime {
  const orders = order === undefined ? (['ymd'] as const) : (['ymd', order] as const)
  switch (format) {
    case 'auto':
      return text => {
        const us = readCount(text, undefined) ?? readZonedTimeText(text)
        return us === undefined ? clockTime(text, orders) : { us, isLocal: false }
      }
    case 'mdy':
    case 'dmy':
      return text => clockTime(text, [order ?? format])
    default:
      return text => {
        const us = readCount(text, format)
        return us === undefined ? `timestamp is not a number of ${format}` : { us, isLocal: false }
      }
  }
}

function clockTime(text: string, orders: readonly (DayOrder | 'ymd')[]): TimeRead | string {
  const { local, aheadUs } = zoneAtEndOf(plainTimeText(text))
  for (const order of orders) {
    const us = readDate(local, order)
    if (us !== undefined) return { us: us - (aheadUs ?? 0), isLocal: aheadUs === undefined }
  }
  return 'timestamp cannot be read'
}

/** The parts of `13/3/20 7:00` in the order of the text; undefined where it begins with the year, or is not a date. */
export function dayPartsIn(text: string): { first: number; second: number; hasLongYear: boolean } | undefined {
  const [, first = '', second = '', third = ''] = date.exec(zoneAtEndOf(plainTimeText(text)).local) ?? []
  if (first === '' || first.length > 2) return undefined
  return { first: Number(first), second: Number(second), hasLongYear: third.length === 4 }
}

/** True if a time has a date and no time of day. */
export function isDateAlone(text: string): boolean {
  const parts = date.exec(plainTimeText(text))
  return parts !== null && parts[4] === undefined
}

const clock = /^\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?[ap]\.?m\.?)?$/i

/** `7:00`, `07:00:00.5` and `7:00 PM`. */
export function isClock(text: string): boolean {
  return clock.test(text)
}

const count = /^(\d{9,19})(?:\.(\d{1,9}))?$/
/** Number of digits by which a count in this unit is shifted to microseconds. */
const unitDigits = { s: 6, ms: 3, us: 0, ns: -3 }

function readCount(text: string, unit: keyof typeof unitDigits | undefined): number | undefined {
  const parts = count.exec(text)
  if (parts === null) return undefined
  const [, whole = '', fraction = ''] = parts
  const [, scale = 'ns'] = digitsOf.find(([digitsMax]) => whole.length <= digitsMax) ?? []
  const digits = unitDigits[unit ?? scale]
  // Cut as text, so that no number is larger than a double can hold exactly.
  if (digits < 0) return Number(whole.slice(0, digits))
  return Number(whole) * 10 ** digits + Number(fraction.slice(0, digits).padEnd(digits, '0'))
}

/** Counts of this century have at most so many digits. */
const digitsOf = [
  [11, 's'],
  [14, 'ms'],
  [17, 'us'],
] as const

/** Each part can be read in one way only. */
const date =
  /^(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})(?:[ T]{1,2}(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: ?([ap])\.?m\.?)?)?$/i

/** Epoch microseconds, as if the clock had UTC. */
function readDate(text: string, order: 'ymd' | 'mdy' | 'dmy'): number | undefined {
  const parts = date.exec(text)
  if (parts === null) return undefined
  const [, first = '', second = '', third = '', hour = '0', minute = '0', clockSecond = '0', fraction = '', half] =
    parts
  const [year, month, day] = {
    ymd: [first, second, third],
    mdy: [third, first, second],
    dmy: [third, second, first],
  }[order] as [string, string, string]
  const fullYear = year.length <= 2 && order !== 'ymd' ? 2000 + Number(year) : Number(year)
  const fullHour = half === undefined ? Number(hour) : hourOfDay(Number(hour), half)
  const isDate = Number(month) >= 1 && Number(month) <= 12 && fullYear >= 1970
  if (!isDate || Number(day) < 1 || Number(day) > daysInMonth(fullYear, Number(month))) return undefined
  if (!(fullHour <= 23) || Number(minute) > 59 || Number(clockSecond) > 59) return undefined
  const seconds = (daysSinceEpoch(fullYear, Number(month), Number(day)) * 24 + fullHour) * 3600 + Number(minute) * 60
  return (seconds + Number(clockSecond)) * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

/** NaN where a clock of twelve hours has no such one. */
function hourOfDay(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return Number.NaN
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

/** Epoch microseconds, ascending: empty for a skipped time, two for a repeated time. */
export type MomentsOf = (localUs: number) => readonly number[]

const dayMs = 86_400_000

/** Throws a CommandError. */
export function createLocalClock(zone: string): MomentsOf {
  const offsets = zoneOffsets(zone)
  return localUs => {
    const localMs = Math.floor(localUs / 1000)
    const near = new Set([offsets.at(localMs - dayMs), offsets.at(localMs + dayMs)])
    const found = [...near].filter(offsetMs => offsets.at(localMs - offsetMs) === offsetMs)
    return found.map(offsetMs => localUs - offsetMs * 1000).sort((a, b) => a - b)
  }
}

function zoneOffsets(zone: string): ZoneOffsets {
  try {
    return new ZoneOffsets(zone)
  } catch {
    throw new CommandError(`there is no time zone ${zone}; use a name such as Europe/Zurich`, exitUsage)
  }
}
