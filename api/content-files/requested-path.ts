/**
 * The two routes as the router is to see them. It decodes strictly and bounds the length of a parameter, where the
 * interface takes any bytes of any length as an id; so it gets every path below `/api/v1/` in a form that it can read.
 */

import { decodeBytes } from './query-string.ts'

export const apiPrefix = '/api/v1'
export const listPath = `${apiPrefix}/contentfiles/`

const listPattern = /^\/api\/v1\/contentfiles(?:\/([^/.]+))?\/?$/s

/** Of a path below the prefix, as sent; the address as sent stays in `originalUrl`. What is no route becomes the prefix. */
export function routedUrl(url: string): string {
  const match = listPattern.exec(decodeBytes(pathOf(url)))
  if (match === null) return `${apiPrefix}/`
  return match[1] === undefined ? listPath : `${listPath}${encodeURIComponent(match[1])}/`
}

/** Where a path without its slash leads; undefined for one that has it. */
export function slashedUrl(url: string): string | undefined {
  const path = pathOf(url)
  if (decodeBytes(path).endsWith('/')) return undefined
  const query = queryOf(url)
  return encodeRaw(`${path}/${query === '' ? '' : `?${query}`}`)
}

/** What stands behind the question mark, as sent. */
export function queryOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

function pathOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

/** A header holds no bytes beyond ASCII, an address may arrive with some. */
function encodeRaw(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, byte => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
