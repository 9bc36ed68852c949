/**
 * Decimal numbers: from bytes without creating a string, and from texts with a file's decimal mark. With a comma as
 * the mark, points separate thousands, and the other way round.
 */

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

export const decimalMarks = ['comma', 'point'] as const
export type DecimalMark = (typeof decimalMarks)[number]

const characterOf = { comma: ',', point: '.' } as const
const otherMark = { comma: 'point', point: 'comma' } as const

/** NaN for a text that is not a number with this mark. Without a mark, a number with a comma is not readable. */
export function readMarkedNumber(text: string, mark: DecimalMark | undefined): number {
  const plain = mark === undefined ? text : plainNumber(text, mark)
  if (plain === undefined) return Number.NaN
  const bytes = Buffer.from(plain)
  return readNumber(bytes, 0, bytes.length)
}

/** Converts to a decimal point without thousands separators. Undefined where these are misplaced. */
function plainNumber(text: string, mark: DecimalMark): string | undefined {
  const separator = characterOf[otherMark[mark]]
  const at = text.indexOf(characterOf[mark])
  const whole = at === -1 ? text : text.slice(0, at)
  const decimals = at === -1 ? '' : text.slice(at + 1)
  if (decimals.includes(separator)) return undefined
  const rest = at === -1 ? '' : `.${decimals}`
  if (!whole.includes(separator)) return `${whole}${rest}`
  return isGrouped(whole, separator) ? `${whole.replaceAll(separator, '')}${rest}` : undefined
}

/** `-1,234,567`: one to three digits, then one or two groups of three. An address has more groups. */
function isGrouped(text: string, separator: string): boolean {
  const unsigned = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text
  const [first = '', ...groups] = unsigned.split(separator, 4)
  if (groups.length === 0 || groups.length > 2 || first.length > 3 || first.startsWith('0')) return false
  return isDigits(first) && groups.every(group => group.length === 3 && isDigits(group))
}

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) return false
  }
  return text !== ''
}
