/** Numbers with a file's decimal mark. With a comma, points separate thousands, and the other way round. */

import { readNumber } from './number.ts'

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
