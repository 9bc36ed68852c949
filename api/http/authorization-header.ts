/** The one Authorization header of a request. */

/**
 * Undefined when there is none or more than one: Node keeps the first of two and drops the other, and a proxy in front
 * of us may have looked at that one. `rawHeaders` as Node gives them: names and values in turns.
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
