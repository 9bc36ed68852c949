/** The page for each address. */

export type Route =
  | { page: 'fleet' }
  | { page: 'device'; name: string }
  | { page: 'station'; sn: string }
  | { page: 'compare' }
  | { page: 'charts' }
  /** `id`: the number of a saved view, or `new`. */
  | { page: 'dashboard'; id: string }
  /** `rest`: the path after `/admin/` or `/alerts/`, which may be empty. */
  | { page: 'admin' | 'alerts'; rest: string }

/** `path` begins with a slash, as seen from where the app stands. Undefined: the server has another answer for it. */
export function routeOf(path: string): Route | undefined {
  const [first = '', ...rest] = path.replace(/\/$/, '').slice(1).split('/')
  if (first === 'admin' || first === 'alerts') return { page: first, rest: rest.join('/') }
  if (rest.length === 0 && first === '') return { page: 'fleet' }
  if (rest.length === 0 && (first === 'compare' || first === 'charts')) return { page: first }
  // `/device` alone is the page on which a program is approved.
  const name = rest.length === 1 ? decoded(rest[0] ?? '') : undefined
  return name === undefined ? undefined : routeOfOne(first, name)
}

const dashboardId = /^(?:new|[1-9]\d{0,9})$/

function routeOfOne(first: string, name: string): Route | undefined {
  if (first === 'dashboard') return dashboardId.test(name) ? { page: first, id: name } : undefined
  if (first === 'device') return { page: first, name }
  return first === 'station' ? { page: first, sn: name } : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export function devicePath(name: string): string {
  return `/device/${encodeURIComponent(name)}`
}

export function stationPath(sn: string): string {
  return `/station/${encodeURIComponent(sn)}`
}
