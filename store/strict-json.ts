/** JSON from outside, as UTF-8 (RFC 8259, 8.1). */

/** Strict: a lenient decoder stores U+FFFD in place of invalid UTF-8. It drops a byte order mark (RFC 8259, 8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws for text that is not JSON. */
export function parseJson(body: Buffer): unknown {
  // Many clients declare JSON as the type of every request, even without a body.
  return body.length === 0 ? undefined : JSON.parse(utf8.decode(body))
}
