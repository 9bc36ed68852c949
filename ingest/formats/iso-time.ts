/** Reads the common form of an ISO 8601 time in UTC from its bytes, without creating a string. */

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
