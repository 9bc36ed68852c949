/** Times as people and programs write them in ISO 8601, with or without a zone. */

import { daysInMonth, daysSinceEpoch } from './iso-time.ts'

/** The pattern is unambiguous, so it cannot backtrack. A `+` that was not percent-encoded arrives as a space. */
const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:Z|([+ -])(\d{2})(?::?(\d{2}))?)?)?$/i

/** Later readings are rejected, and beyond 2255 microseconds are not exact in a double. */
export const timeUsMax = Date.UTC(2200, 0) * 1000

const dayUs = 86_400_000_000
const minuteUs = 60_000_000

/**
 * Epoch microseconds of `2017-01-01`, `2020-01-01 03:30`, ISO 8601 with `T`. Without a zone UTC, a date alone is
 * midnight, digits beyond microseconds are cut off. Undefined for any other text.
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

/** Like `readTimeText`, but undefined for a text without a zone. */
export function readZonedTimeText(text: string): number | undefined {
  // The day of a date alone looks like a zone.
  return text.length > 'YYYY-MM-DD'.length && zoneAtEnd.test(text) ? readTimeText(text) : undefined
}

const plainLengthMax = 64
const basic = /^(\d{4})(\d{2})(\d{2})[T ](\d{2})(\d{2})(\d{2})?(?=$|[^\d:])/i
const slashedDate = /^(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?=$|[T ])/i
const zoneBehindClock =
  /(:\d{2}(?:[.,]\d{1,9})?(?: ?[ap]\.?m\.?)?) ?(?:(?:UTC|GMT)?([+-]\d{2}(?::?\d{2})?)|UTC|GMT|Z)$/i

/**
 * Converts other spellings of a time to ISO 8601: several blanks, `2020/05/07`, `20200507T070007Z`, and `UTC`, `GMT` or an offset
 * after a blank. Any other text only gets single blanks.
 */
export function plainTimeText(text: string): string {
  if (text.length > plainLengthMax) return text
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(basic, (_, year, month, day, hour, minute, second = '00') => {
      return `${year}-${month}-${day}T${hour}:${minute}:${second}`
    })
    .replace(slashedDate, (_, year, month, day) => {
      return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    })
    .replace(zoneBehindClock, (_, clock, offset) => `${clock.replace(',', '.')}${offset ?? 'Z'}`)
}

const offsetBehindClock = /(:\d{2}(?:\.\d{1,9})?(?: ?[ap]\.?m\.?)?)(?:Z|([+-])(\d{2})(?::?(\d{2}))?)$/i

/** Splits off the zone, and returns how far local time is ahead of UTC. Undefined without a zone. */
export function zoneAtEndOf(plainText: string): { local: string; aheadUs: number | undefined } {
  const parts = offsetBehindClock.exec(plainText)
  if (parts === null) return { local: plainText, aheadUs: undefined }
  const [found, clock = '', sign, hours = '0', minutes = '0'] = parts
  if (Number(hours) > 23 || Number(minutes) > 59) return { local: plainText, aheadUs: undefined }
  const aheadMinutes = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  return { local: plainText.slice(0, -found.length) + clock, aheadUs: aheadMinutes * minuteUs }
}

function isDayOf(year: number, month: number, day: number): boolean {
  return day >= 1 && day <= daysInMonth(year, month)
}
