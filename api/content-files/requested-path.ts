/** Rewrites paths for the router: it decodes strictly, while an id may be any bytes of any length. */

import { decodeBytes } from './query-string.ts'

export const apiPrefix = '/api/v1'
export const listPath = `${apiPrefix}/contentfiles/`

const listPattern = /^\/api\/v1\/contentfiles(?:\/([^/.]+))?\/?$/s

/** Rewrites a path below the prefix; `originalUrl` keeps the sent address. Other paths become the prefix. */
export function routedUrl(url: string): string {
  const match = listPattern.exec(decodeBytes(pathOf(url)))
  if (match === null) return `${apiPrefix}/`
  return match[1] === undefined ? listPath : `${listPath}${encodeURIComponent(match[1])}/`
}

/** Target of the redirect that adds the slash; undefined if the path has it. */
export function slashedUrl(url: string): string | undefined {
  const path = pathOf(url)
  if (decodeBytes(path).endsWith('/')) return undefined
  const query = queryOf(url)
  return encodeRaw(`${path}/${query === '' ? '' : `?${query}`}`)
}

/** Text behind the question mark, as sent. */
export function queryOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

function pathOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

/** Headers are ASCII, while an address may have other bytes. */
function encodeRaw(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, byte => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
