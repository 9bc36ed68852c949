/** Reads the only Authorization header of a request. */

/**
 * Undefined without the header, and with several: Node drops all but the first, while a proxy may have read another.
 * `rawHeaders` alternates names and values, as in Node.
 */
export function onlyAuthorization(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue
    if (found !== undefined) return undefined
    found = rawHeaders[at + 1]
  }
  return found
}
