/** Rows of text, written as bytes: a string for each number would cost more than its digits. */

import { formatDate } from '../../analytics/time/calendar.ts'

const [zero, minus, point, colon] = [0x30, 0x2d, 0x2e, 0x3a]
/** Larger numbers, and those with more decimals, are written as JavaScript does. */
const wholeMax = 1e9
const decimalsMax = 4
/** Fits `-1.7976931348623157e+308`, and a time with microseconds. */
export const fieldBytesMax = 32
const secondUs = 1_000_000
const daySeconds = 86_400

export class RowBytes {
  #bytes: Buffer<ArrayBuffer>
  #length = 0
  #day = Number.NaN
  #dateText = Buffer.alloc(0)

  constructor(bytesExpected: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(1024, bytesExpected))
  }

  /** Reserves room for `bytes`. The methods below do not check it. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  bytes(text: Uint8Array): void {
    // Short texts are copied faster byte by byte than by a call.
    for (let index = 0; index < text.length; index++) this.#bytes[this.#length++] = text[index] as number
  }

  /** Writes the shortest digits that parse to the same number, as `String` does; -0 keeps its sign. */
  number(value: number): void {
    const magnitude = Math.abs(value)
    for (let decimals = 0, scale = 1; decimals <= decimalsMax && magnitude < wholeMax; decimals++, scale *= 10) {
      const scaled = Math.round(magnitude * scale)
      // A decimal of at most 15 digits is the shortest one of its nearest double.
      if (scaled / scale !== magnitude) continue
      if (value < 0 || Object.is(value, -0)) this.#bytes[this.#length++] = minus
      const whole = Math.floor(scaled / scale)
      this.#digits(whole, digitCount(whole))
      if (decimals === 0) return
      this.#bytes[this.#length++] = point
      this.#digits(scaled - whole * scale, decimals)
      return
    }
    this.#ascii(String(value))
  }

  /** Always in the form `2016-05-30T02:20:00.000000`, so that programs recognize a column of times. */
  utc(timeUs: number): void {
    const seconds = Math.floor(timeUs / secondUs)
    const micros = timeUs - seconds * secondUs
    const day = Math.floor(seconds / daySeconds)
    if (day !== this.#day) {
      this.#day = day
      this.#dateText = Buffer.from(`${formatDate(day)}T`)
    }
    const second = seconds - day * daySeconds
    this.bytes(this.#dateText)
    this.#digits(Math.floor(second / 3600), 2)
    this.#bytes[this.#length++] = colon
    this.#digits(Math.floor(second / 60) % 60, 2)
    this.#bytes[this.#length++] = colon
    this.#digits(second % 60, 2)
    this.#bytes[this.#length++] = point
    this.#digits(micros, 6)
  }

  /** Returns a buffer of exactly the written length. */
  finish(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }

  #ascii(text: string): void {
    for (let index = 0; index < text.length; index++) this.#bytes[this.#length++] = text.charCodeAt(index)
  }

  /** The last `count` digits of a whole number below `wholeMax`. */
  #digits(whole: number, count: number): void {
    let rest = whole | 0
    for (let place = this.#length + count - 1; place >= this.#length; place--) {
      const tenth = (rest / 10) | 0
      this.#bytes[place] = zero + rest - tenth * 10
      rest = tenth
    }
    this.#length += count
  }
}

function digitCount(whole: number): number {
  let count = 1
  for (let bound = 10; whole >= bound; bound *= 10) count++
  return count
}
