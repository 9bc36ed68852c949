/** Timestamps of line protocol: 64-bit integers, in a unit that the request names. */

import { byteOf } from './line-protocol-text.ts'

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
  return ms * readInteger(bytes, start, end, digitsCut)
}

/** Like `readTimestamp`, with the microseconds as a fraction. For units that have them. */
export function readFineTimestamp(bytes: Buffer, start: number, end: number, { digitsCut }: Unit): number {
  return readInteger(bytes, start, end, digitsCut - 3) / 1000
}

/** True for units with microseconds. */
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
