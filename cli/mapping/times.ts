/** Times of foreign files: with or without a zone, as dates in several orders, and as counts since 1970. */

import { ZoneOffsets } from '../../analytics/time/zone-offsets.ts'
import { daysInMonth, daysSinceEpoch } from '../../ingest/formats/iso-time.ts'
import { plainTimeText, readZonedTimeText, zoneAtEndOf } from '../../ingest/formats/time-text.ts'
import { CommandError, exitUsage } from '../command-error.ts'

/** `auto` knows ISO 8601, dates that begin with the year, and counts by their digits. */
export const timeFormats = ['auto', 'mdy', 'dmy', 's', 'ms', 'us', 'ns'] as const
export type TimeFormat = (typeof timeFormats)[number]

/** Epoch microseconds, or what is wrong with the text. */
export type ReadTime = (text: string) => number | string

export function isTimeFormat(text: string): text is TimeFormat {
  return timeFormats.some(format => format === text)
}

/** `zone` is that of times that name none. */
export function createTimeReader(format: TimeFormat, zone: string | undefined): ReadTime {
  const toUtc = zone === undefined ? noZone : createLocalReader(zone)
  const readText = (text: string, order: 'ymd' | 'mdy' | 'dmy') => {
    const { clock, aheadUs } = zoneAtEndOf(plainTimeText(text))
    const localUs = readDate(clock, order)
    return localUs === undefined || aheadUs === undefined ? toUtc(localUs) : localUs - aheadUs
  }
  switch (format) {
    case 'auto':
      return text => readCount(text, undefined) ?? readZonedTimeText(text) ?? readText(text, 'ymd')
    case 'mdy':
    case 'dmy':
      return text => readText(text, format)
    default:
      return text => readCount(text, format) ?? `timestamp is no number of ${format}`
  }
}

type ToUtc = (localUs: number | undefined) => number | string

const noTime = 'timestamp cannot be read'

/** All lines of a file are alike, so the first one ends the import. */
const noZone: ToUtc = localUs => {
  if (localUs === undefined) return noTime
  throw new CommandError(
    'the times of the file name no time zone; give it with --zone, such as --zone Europe/Zurich',
    exitUsage,
  )
}

function createLocalReader(zone: string): ToUtc {
  const offsets = zoneOffsets(zone)
  const dayMs = 86_400_000
  let previousUs = Number.NEGATIVE_INFINITY
  return localUs => {
    if (localUs === undefined) return noTime
    const localMs = Math.floor(localUs / 1000)
    const near = new Set([offsets.at(localMs - dayMs), offsets.at(localMs + dayMs)])
    const found = [...near].filter(offsetMs => offsets.at(localMs - offsetMs) === offsetMs)
    const [first, second = first] = found.map(offsetMs => localUs - offsetMs * 1000).sort((a, b) => a - b)
    if (first === undefined || second === undefined) return `timestamp: there is no such time in ${zone}`
    // An hour comes twice when the clocks are set back; the second time it follows the first.
    const timeUs = first < previousUs && second >= previousUs ? second : first
    previousUs = timeUs
    return timeUs
  }
}

function zoneOffsets(zone: string): ZoneOffsets {
  try {
    return new ZoneOffsets(zone)
  } catch {
    throw new CommandError(`there is no time zone ${zone}; use a name such as Europe/Zurich`, exitUsage)
  }
}

const count = /^(\d{9,19})(?:\.(\d{1,9}))?$/
/** By how many digits they are longer than a microsecond. */
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

/** In this century. */
const digitsOf = [
  [11, 's'],
  [14, 'ms'],
  [17, 'us'],
] as const

/** Each part can be read in one way only. */
const date =
  /^(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})(?:[ T]{1,2}(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: ?([ap])\.?m\.?)?)?$/i

/** Epoch microseconds as if the clock were that of UTC. */
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
