/** Cookies of a request. */

/** Undefined where there is none of this name, or several: which one was meant nobody can tell. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const found = (header ?? '').split(';').flatMap(part => {
    const at = part.indexOf('=')
    return at >= 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : []
  })
  return found.length === 1 ? found[0] : undefined
}
