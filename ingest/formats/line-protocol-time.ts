/** Timestamps of line protocol: integers of 64 bits, in units that the request names. */

import { byteOf } from './line-protocol-text.ts'

/** How many of the last digits are finer than a millisecond, or how many milliseconds the unit has. */
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

/**
 * To be looked up once a body: its name comes from another thread, and V8 compiles a look-up that it has optimized anew for
 * each such string.
 */
export function unitOf(precision: Precision): Unit {
  return units[precision]
}

/** Those of 2^63. */
const digitsMax = 19

/**
 * Epoch milliseconds; NaN for what is no integer of at most 19 digits. What is finer than a millisecond is cut off digit by
 * digit, so that no number is ever larger than a double can hold exactly.
 */
export function readTimestamp(bytes: Buffer, start: number, end: number, { digitsCut, ms }: Unit): number {
  return ms * readInteger(bytes, start, end, digitsCut)
}

/** The same with the microseconds as a fraction; of a unit that has them. */
export function readFineTimestamp(bytes: Buffer, start: number, end: number, { digitsCut }: Unit): number {
  return readInteger(bytes, start, end, digitsCut - 3) / 1000
}

/** Whether it has microseconds. */
export function isFine({ digitsCut }: Unit): boolean {
  return digitsCut >= 3
}

function readInteger(bytes: Buffer, start: number, end: number, digitsCut: number): number {
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
