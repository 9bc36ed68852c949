/**
 * The `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header): a string of structured fields (RFC 9651, 3.3.3),
 * `"8e03978e"`. Many clients send the key without quotation marks, so a key without blanks is accepted unquoted.
 */

import type { IncomingHttpHeaders } from 'node:http'

/** Length of the header. */
const lengthMax = 255
const tooLong = `must have at most ${lengthMax} characters`
const malformed =
  'must be one string in quotation marks, or one word without blanks, quotation marks, commas and semicolons'

export type IdempotencyKey = { ok: true; key: string } | { ok: false; reason: string }

/** Undefined without the header. Node joins several headers with commas, which an unquoted key cannot contain. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): IdempotencyKey | undefined {
  const header = headers['idempotency-key']
  if (header === undefined) return undefined
  if (typeof header !== 'string') return { ok: false, reason: malformed }
  if (header.length > lengthMax) return { ok: false, reason: tooLong }
  const key = header.startsWith('"') ? readString(header) : readWord(header)
  return key === undefined || key === '' ? { ok: false, reason: malformed } : { ok: true, key }
}

/** Printable ASCII in quotation marks, with a backslash before quotation marks and backslashes. Parameters are not allowed. */
function readString(header: string): string | undefined {
  let text = ''
  for (let at = 1; at < header.length; at++) {
    const character = header.charAt(at)
    if (character === '"') return at === header.length - 1 ? text : undefined
    if (!isPrintable(character)) return undefined
    if (character !== '\\') {
      text += character
      continue
    }
    at++
    const escaped = header.charAt(at)
    if (escaped !== '"' && escaped !== '\\') return undefined
    text += escaped
  }
  return undefined
}

function readWord(header: string): string | undefined {
  for (const character of header) {
    if (!isPrintable(character) || ' ",;\\'.includes(character)) return undefined
  }
  return header
}

function isPrintable(character: string): boolean {
  return character >= ' ' && character <= '~'
}
