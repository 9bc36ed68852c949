/** Times as people and programs write them in ISO 8601, with or without a zone. */

import { daysInMonth, daysSinceEpoch } from './iso-time.ts'

/** Each part can be read in one way only. A `+` that was not percent-encoded arrives as a space. */
const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:Z|([+ -])(\d{2})(?::?(\d{2}))?)?)?$/i

/** Later times are those of no reading, and beyond 2255 their microseconds are not exact in a double. */
export const timeUsMax = Date.UTC(2200, 0) * 1000

const dayUs = 86_400_000_000
const minuteUs = 60_000_000

/**
 * Epoch microseconds of `2017-01-01`, `2020-01-01 03:30`, ISO 8601 with `T`; without a zone UTC, a date alone is midnight,
 * digits beyond microseconds are cut off. Undefined for any other text.
 */
export function readTimeText(text: string): number | undefined {
  const parts = pattern.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', sign, ...zone] = parts
  const [zoneHour = '0', zoneMinute = '0'] = zone
  const isDate = Number(month) >= 1 && Number(month) <= 12 && isDayOf(Number(year), Number(month), Number(day))
  const isClock = Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 59
  if (!isDate || !isClock || Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined
  const aheadMinutes = (sign === '-' ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute))
  const minutes = Number(hour) * 60 + Number(minute) - aheadMinutes
  const days = daysSinceEpoch(Number(year), Number(month), Number(day))
  return days * dayUs + minutes * minuteUs + Number(second) * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

const zoneAtEnd = /\d(?:Z|[+-]\d{2}(?::?\d{2})?)$/i

/** The same of a text that has a zone; undefined for one without. */
export function readZonedTimeText(text: string): number | undefined {
  // The day of a date alone looks like a zone.
  return text.length > 'YYYY-MM-DD'.length && zoneAtEnd.test(text) ? readTimeText(text) : undefined
}

function isDayOf(year: number, month: number, day: number): boolean {
  return day >= 1 && day <= daysInMonth(year, month)
}
