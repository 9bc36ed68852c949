/** In which format a request wants data points, by `format` and Accept. */

import Negotiator from 'negotiator'

export type PointLines = 'csv' | 'ndjson'
type PointFormat = 'json' | PointLines

export const typeOf: Record<PointFormat, string> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
}

/** JSON first: for a client that takes anything, and for one that takes nothing of these. */
const formatOfType: Readonly<Record<string, PointFormat>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
}
const types = Object.keys(formatOfType)
const headerLengthMax = 1_000

/** `format` counts before Accept; undefined when it is none of ours. */
export function pointFormat(accept: string | undefined, format: string | null): PointFormat | undefined {
  if (format !== null && format !== '') return Object.hasOwn(typeOf, format) ? (format as PointFormat) : undefined
  if (accept === undefined || accept.length > headerLengthMax) return 'json'
  const [type = ''] = new Negotiator({ headers: { accept } }).mediaTypes(types)
  return formatOfType[type] ?? 'json'
}
