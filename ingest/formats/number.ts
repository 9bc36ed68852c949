/** Reads a decimal number from its bytes, without creating a string. */

const zero = 0x30
const nine = 0x39
const plus = 0x2b
const minus = 0x2d
const point = 0x2e

/** With at most 15 digits both the digits and the power of ten are exact doubles, so one division rounds correctly. */
export const exactDigits = 15
export const powersOfTen = Float64Array.from({ length: exactDigits + 1 }, (_, exponent) => 10 ** exponent)

/** The digits after the point belong to its group, so that the pattern cannot backtrack over the digits before it. */
const decimalNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** NaN where the bytes from `start` to `end` are not a finite decimal number. */
export function readNumber(bytes: Uint8Array, start: number, end: number): number {
  const sign = bytes[start]
  const magnitude = readPlainNumber(bytes, sign === minus || sign === plus ? start + 1 : start, end)
  if (Number.isNaN(magnitude)) return readAnyNumber(bytes, start, end)
  return sign === minus ? -magnitude : magnitude
}

/** A few digits with an optional point; NaN for everything else. */
function readPlainNumber(bytes: Uint8Array, start: number, end: number): number {
  if (end <= start || end - start > exactDigits) return Number.NaN
  let mantissa = 0
  let pointAt = end
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte >= zero && byte <= nine) mantissa = mantissa * 10 + (byte - zero)
    else if (byte === point && pointAt === end) pointAt = at
    else return Number.NaN
  }
  if (pointAt === end) return mantissa
  const fractionDigits = end - pointAt - 1
  // The slow way handles a final point, and checks that there are digits at all.
  return fractionDigits === 0 ? Number.NaN : mantissa / (powersOfTen[fractionDigits] ?? Number.NaN)
}

/** Exponents, many digits, and invalid texts. */
function readAnyNumber(bytes: Uint8Array, start: number, end: number): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
  const value = decimalNumber.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : Number.NaN
}
