/** Reads the cookies of a request. */

/** Undefined if the cookie is missing, or ambiguous because it is repeated. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const found = (header ?? '').split(';').flatMap(part => {
    const at = part.indexOf('=')
    return at >= 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : []
  })
  return found.length === 1 ? found[0] : undefined
}
