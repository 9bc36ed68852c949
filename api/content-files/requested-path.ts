/**
 * Which of the two routes a path names. The router decodes strictly and bounds the length of an id, the interface
 * does neither, so this family looks at the paths below `/api/v1/` itself.
 */

import { decodeBytes } from './query-string.ts'

export const apiPrefix = '/api/v1'
export const listPath = `${apiPrefix}/contentfiles/`

const listPattern = /^\/api\/v1\/contentfiles\/(?:([^/.]+)\/)?$/s

export type Requested =
  | { kind: 'list'; query: string }
  | { kind: 'file'; query: string; id: string }
  | { kind: 'redirect'; location: string }
  | { kind: 'unmatched' }

/** Of a path below the prefix with its query, as it was sent. */
export function readPath(url: string): Requested {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const query = at < 0 ? '' : url.slice(at + 1)
  const decoded = decodeBytes(path)
  const match = listPattern.exec(decoded)
  if (match !== null) return match[1] === undefined ? { kind: 'list', query } : { kind: 'file', query, id: match[1] }
  if (!listPattern.test(`${decoded}/`)) return { kind: 'unmatched' }
  return { kind: 'redirect', location: encodeRaw(`${path}/${query === '' ? '' : `?${query}`}`) }
}

/** What the router is to see instead: for `rewriteUrl`. The address as sent stays in `originalUrl`. */
export function routedUrl(url: string): string {
  return url.startsWith(`${apiPrefix}/`) ? `${apiPrefix}/` : url
}

/** A header holds no bytes beyond ASCII, an address may arrive with some. */
function encodeRaw(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, byte => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
