/** Numbers of line protocol: floats, and integers with a letter after them. */

import { byteOf, nameEnd, withoutReturn } from './line-protocol-text.ts'
import { exactDigits, powersOfTen, readNumber } from './number.ts'

const zero = 0x30
const nine = 0x39
const plus = 0x2b
const point = 0x2e
const letterI = 0x69
const letterU = 0x75
/** Some clients write doubles without an exponent: the smallest ones then have some 340 digits. */
const numberBytesMax = 400

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
