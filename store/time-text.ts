/** Times as text. The common form of ISO 8601 in UTC is read from its bytes without creating a string. */

import { z } from 'zod'

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

/** Reads like `readTimeText`, but returns undefined for a text without a zone. */
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

const zero = 0x30
const dash = 0x2d
const colon = 0x3a
const point = 0x2e
const capitalT = 0x54
const capitalZ = 0x5a

const dayMs = 86_400_000
const lengthToSeconds = 'YYYY-MM-DDTHH:MM:SS'.length
const lengthToMilliseconds = 'YYYY-MM-DDTHH:MM:SS.sss'.length
const lengthToMicroseconds = 'YYYY-MM-DDTHH:MM:SS.ssssss'.length

/** A time read from bytes, for a check that accepts only texts from other sources: JSON cannot contain one. */
export class ReadTime {
  /** Epoch milliseconds. */
  ms = Number.NaN
}

type Zone = 'Z' | 'or without zone'

/**
 * Epoch milliseconds of `YYYY-MM-DDTHH:MM:SS[.sss[sss]]Z`, or the same without the `Z`; microseconds are a fraction. NaN for any
 * other text, which may still be a time: the caller then uses the slower reader of all forms.
 */
export function readIsoTime(bytes: Uint8Array, start: number, end: number, zone: Zone = 'Z'): number {
  const clockEnd = bytes[end - 1] === capitalZ ? end - 1 : end
  if ((zone === 'Z' && clockEnd === end) || !hasShape(bytes, start, clockEnd)) return Number.NaN
  const year = readDigits(bytes, start, 4)
  const month = readDigits(bytes, start + 5, 2)
  const day = readDigits(bytes, start + 8, 2)
  const hour = readDigits(bytes, start + 11, 2)
  const minute = readDigits(bytes, start + 14, 2)
  const second = readDigits(bytes, start + 17, 2)
  const length = clockEnd - start
  const millisecond = length === lengthToSeconds ? 0 : readDigits(bytes, start + 20, 3)
  const microsecond = length === lengthToMicroseconds ? readDigits(bytes, start + 23, 3) : 0
  // A part with other characters than digits is NaN, and fails its comparison.
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return Number.NaN
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN
  const clockMs = ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
  return daysSinceEpoch(year, month, day) * dayMs + clockMs + microsecond / 1000
}

function hasShape(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start
  const hasFraction = length === lengthToMilliseconds || length === lengthToMicroseconds
  if (length !== lengthToSeconds && !(hasFraction && bytes[start + 19] === point)) return false
  return (
    bytes[start + 4] === dash &&
    bytes[start + 7] === dash &&
    bytes[start + 10] === capitalT &&
    bytes[start + 13] === colon &&
    bytes[start + 16] === colon
  )
}

function readDigits(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let at = start; at < start + count; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Counts from 1 March, so that the leap day is the last of its year and the months' lengths follow one formula. */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1
  const marchMonth = month > 2 ? month - 3 : month + 9
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400)
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5) + day - 1
  const daysTo1970 = 719_468
  return marchYear * 365 + leapDays + dayOfYear - daysTo1970
}

// Forms of these times for the contract.
const date = z.regexes.date.source.slice(1, -1).replaceAll('\\d', '[0-9]')
const clock = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,9})?)?'
const zone = '(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)'

/** A date alone, or a time with or without a zone. */
export const timeTextForm = `^${date}(?:[Tt ]${clock}${zone}?)?$`

/** A time with a zone, or milliseconds. */
export const momentForm = `^(?:[0-9]{1,13}|${date}[Tt ]${clock}${zone})$`
