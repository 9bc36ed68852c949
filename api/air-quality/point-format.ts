/** Selects the format of data points by `format` and Accept. */

import Negotiator from 'negotiator'

export type PointLines = 'csv' | 'ndjson'
type PointFormat = 'json' | PointLines

export const typeOf: Record<PointFormat, string> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
}

/** JSON is the default, also for clients that accept other types only. */
const formatOfType: Readonly<Record<string, PointFormat>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
}
const types = Object.keys(formatOfType)
const headerLengthMax = 1_000

/** `format` takes precedence over Accept. Undefined for an unknown format. */
export function pointFormat(accept: string | undefined, format: string | null): PointFormat | undefined {
  if (format !== null && format !== '') return Object.hasOwn(typeOf, format) ? (format as PointFormat) : undefined
  if (accept === undefined || accept.length > headerLengthMax) return 'json'
  const [type = ''] = new Negotiator({ headers: { accept } }).mediaTypes(types)
  return formatOfType[type] ?? 'json'
}
