/** Parses the addresses of views: pages of the app with their arguments, relative to the root of the service. */

export const viewAddressLengthMax = 1000
const argumentsMax = 50

export interface ViewAddress {
  page: 'fleet' | 'device' | 'station' | 'compare' | 'charts' | 'alerts' | 'admin'
  /** Name of the device or the station. */
  name?: string
  arguments: URLSearchParams
  /** Stored form: a path of the service with its query, percent-encoded. */
  text: string
}

/** Undefined for other addresses. */
export function viewAddressIn(text: string): ViewAddress | undefined {
  if (text.length > viewAddressLengthMax || !text.startsWith('/') || !URL.canParse(text, base)) return undefined
  const { origin, pathname, search, searchParams, hash } = new URL(text, base)
  // A browser reads two slashes, or a slash and a backslash, as the beginning of another site.
  if (origin !== base || hash !== '' || searchParams.size > argumentsMax) return undefined
  const canonical = `${pathname}${search}`
  const page = pageAt(pathname)
  if (page === undefined || canonical.length > viewAddressLengthMax) return undefined
  return { ...page, arguments: searchParams, text: canonical }
}

const base = 'http://views.invalid'

/** Parses paths as `web/client/routes.ts` does. */
function pageAt(path: string): Pick<ViewAddress, 'page' | 'name'> | undefined {
  const [first = '', ...rest] = path.slice(1).split('/')
  if (first === 'alerts' || first === 'admin') return rest.every(isPart) ? { page: first } : undefined
  if (rest.length === 0 && first === '') return { page: 'fleet' }
  if (rest.length === 0) return first === 'compare' || first === 'charts' ? { page: first } : undefined
  if (rest.length > 1 || (first !== 'device' && first !== 'station')) return undefined
  const name = decoded(rest[0] ?? '')
  return name === undefined ? undefined : { page: first, name }
}

function isPart(text: string): boolean {
  return /^[a-z-]+$/.test(text)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined
  } catch {
    return undefined
  }
}
