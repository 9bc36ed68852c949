/**
 * The characters of InfluxDB's line protocol: the ends of names, strings and lines, the escapes, numbers and
 * timestamps.
 */

import { exactDigits, powersOfTen, readNumber } from './number.ts'

export const byteOf = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  hash: 0x23,
  comma: 0x2c,
  minus: 0x2d,
  equals: 0x3d,
  backslash: 0x5c,
} as const

/** Characters that a backslash escapes; before any other it stands for itself. */
const escapable = { measurement: ', \\', name: ', =\\' } as const

/**
 * Finds the end of the measurement with its tags: the space before the fields, or the end of the line or the body. Of two
 * backslashes the first escapes the second. A line feed always ends the line, even after a backslash.
 */
export function seriesEnd(bytes: Buffer, start: number): number {
  let at = start
  for (; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === byteOf.space || byte === byteOf.lineFeed) break
    if (byte === byteOf.backslash && at + 1 < bytes.length && bytes[at + 1] !== byteOf.lineFeed) at++
  }
  return at
}

/** Finds the end of a name or a number: the first comma, equals sign, space or line feed that is not escaped, or `end`. */
export function nameEnd(bytes: Buffer, start: number, end: number): number {
  let at = start
  for (; at < end; at++) {
    const byte = bytes[at] ?? 0
    // Most bytes are letters, which are above all of these except the backslash.
    if (byte > byteOf.equals) {
      if (byte === byteOf.backslash && at + 1 < end && bytes[at + 1] !== byteOf.lineFeed) at++
    } else if (isDelimiter(byte)) break
  }
  return at
}

function isDelimiter(byte: number): boolean {
  return byte === byteOf.equals || byte === byteOf.comma || byte === byteOf.space || byte === byteOf.lineFeed
}

/** Finds the end of the measurement: like a name, but it may contain an equals sign. */
export function measurementEnd(bytes: Buffer, start: number, end: number): number {
  let at = nameEnd(bytes, start, end)
  while (at < end && bytes[at] === byteOf.equals) at = nameEnd(bytes, at + 1, end)
  return at
}

/** Offset after the closing quote of a string that opens at `start`. Undefined without one. A string may span lines. */
export function stringEnd(bytes: Buffer, start: number): number | undefined {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === byteOf.quote) return at + 1
    if (byte === byteOf.backslash) at++
  }
  return undefined
}

/**
 * Finds the line feed that ends a line whose fields cannot be read beyond `start`, or the end of the body. The content of a
 * string is never read as lines: its text may come from another person.
 */
export function lineEnd(bytes: Buffer, start: number): number {
  let opensString = false
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === byteOf.lineFeed) return at
    if (byte === byteOf.quote && opensString) {
      const end = stringEnd(bytes, at)
      if (end === undefined) return bytes.length
      at = end - 1
    } else if (byte === byteOf.backslash && bytes[at + 1] !== byteOf.lineFeed) at++
    opensString = byte === byteOf.equals
  }
  return bytes.length
}

export function unescapeText(bytes: Buffer, start: number, end: number, kind: keyof typeof escapable): string {
  const text = bytes.toString('utf8', start, end)
  if (!text.includes('\\')) return text
  let plain = ''
  for (let at = 0; at < text.length; at++) {
    const next = text[at + 1]
    const isEscape = text[at] === '\\' && next !== undefined && escapable[kind].includes(next)
    if (isEscape) at++
    plain += text[at]
  }
  return plain
}

export function isBlank(byte: number | undefined): boolean {
  return byte === byteOf.space || byte === byteOf.tab || byte === byteOf.carriageReturn
}

export function commentEnd(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(byteOf.lineFeed, start)
  return end === -1 ? bytes.length : end
}

/** The end of a token before a line feed, without the carriage return that belongs to it. */
export function withoutReturn(bytes: Buffer, start: number, end: number): number {
  const isLineEnd = end > start && (end === bytes.length || bytes[end] === byteOf.lineFeed)
  return isLineEnd && bytes[end - 1] === byteOf.carriageReturn ? end - 1 : end
}

export function lineFeedsIn(bytes: Buffer, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) if (bytes[at] === byteOf.lineFeed) count++
  return count
}

const zero = 0x30
const nine = 0x39
const plus = 0x2b
const point = 0x2e
const letterI = 0x69
const letterU = 0x75
/** Some clients write doubles without an exponent: the smallest ones then have some 340 digits. */
const numberBytesMax = 400

/** Reads floats, and integers with a letter after them. */
export class NumberReader {
  readonly #bytes: Buffer
  /** Offset after the last number, or the start of a text that is not a number. */
  end = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** NaN for other texts. A number of few digits is read and delimited in one pass. */
  read(start: number): number {
    const bytes = this.#bytes
    const { length } = bytes
    const isNegative = bytes[start] === byteOf.minus
    let at = isNegative ? start + 1 : start
    const digitsAt = at
    let mantissa = 0
    let pointAt = -1
    for (; at < length; at++) {
      const byte = bytes[at] as number
      if (byte >= zero && byte <= nine) mantissa = mantissa * 10 + (byte - zero)
      else if (byte === point && pointAt === -1) pointAt = at
      else break
    }
    if (!this.#isValueEnd(at) || at - digitsAt > exactDigits || pointAt === at - 1 || at === digitsAt) {
      return this.#readAny(start)
    }
    this.end = at
    const magnitude = pointAt === -1 ? mantissa : mantissa / (powersOfTen[at - pointAt - 1] as number)
    return isNegative ? -magnitude : magnitude
  }

  #isValueEnd(at: number): boolean {
    if (at === this.#bytes.length) return true
    const byte = this.#bytes[at]
    return byte === byteOf.comma || byte === byteOf.space || byte === byteOf.lineFeed
  }

  #readAny(start: number): number {
    const bytes = this.#bytes
    this.end = start
    if (bytes[start] === byteOf.quote) return Number.NaN
    this.end = nameEnd(bytes, start, bytes.length)
    return readValue(bytes, start, withoutReturn(bytes, start, this.end))
  }
}

function readValue(bytes: Buffer, start: number, end: number): number {
  if (end - start > numberBytesMax || bytes[start] === plus) return Number.NaN
  const last = bytes[end - 1]
  return last === letterI || last === letterU ? readInteger(bytes, start, end - 1, last) : readNumber(bytes, start, end)
}

function readInteger(bytes: Buffer, start: number, end: number, letter: number): number {
  const digitsAt = bytes[start] === byteOf.minus && letter === letterI ? start + 1 : start
  for (let at = digitsAt; at < end; at++) if (!isDigit(bytes[at])) return Number.NaN
  return end > digitsAt ? readNumber(bytes, start, end) : Number.NaN
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine
}

/** Number of digits finer than a millisecond, or milliseconds of the unit. */
const units = {
  ns: { digitsCut: 6, ms: 1 },
  us: { digitsCut: 3, ms: 1 },
  ms: { digitsCut: 0, ms: 1 },
  s: { digitsCut: 0, ms: 1000 },
  m: { digitsCut: 0, ms: 60_000 },
  h: { digitsCut: 0, ms: 3_600_000 },
} as const
export type Precision = keyof typeof units

interface Unit {
  readonly digitsCut: number
  readonly ms: number
}

/** Call it once per body: the name comes from another thread, and V8 recompiles an optimized look-up for each such string. */
export function unitOf(precision: Precision): Unit {
  return units[precision]
}

/** The digits of 2^63. */
const digitsMax = 19

/**
 * Epoch milliseconds; NaN unless it is an integer of at most 19 digits. Digits finer than a millisecond are cut off one by one,
 * so that a double always holds the number exactly.
 */
export function readTimestamp(bytes: Buffer, start: number, end: number, { digitsCut, ms }: Unit): number {
  return ms * readTimeDigits(bytes, start, end, digitsCut)
}

/** Reads like `readTimestamp`, with the microseconds as a fraction. The unit must have them. */
export function readFineTimestamp(bytes: Buffer, start: number, end: number, { digitsCut }: Unit): number {
  return readTimeDigits(bytes, start, end, digitsCut - 3) / 1000
}

/** True for units with microseconds. */
export function isFine({ digitsCut }: Unit): boolean {
  return digitsCut >= 3
}

function readTimeDigits(bytes: Buffer, start: number, end: number, digitsCut: number): number {
  const isNegative = bytes[start] === byteOf.minus
  const digitsAt = isNegative ? start + 1 : start
  if (end <= digitsAt || end - digitsAt > digitsMax) return Number.NaN
  const cutAt = end - digitsCut
  let value = 0
  for (let at = digitsAt; at < end; at++) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return Number.NaN
    if (at < cutAt) value = value * 10 + digit
  }
  return isNegative ? -value : value
}
