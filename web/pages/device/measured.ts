/** The subject of a page of readings: a device, or a station with other routes. */

export interface Measured {
  readonly kind: 'device' | 'station'
  readonly name: string
  /** The path behind `/api/` for a read such as `detail_data`, with its query string. */
  pathOf(read: string, query?: string): string
}

export function measuredDevice(name: string): Measured {
  const part = encodeURIComponent(name)
  return { kind: 'device', name, pathOf: (read, query = '') => withQuery(`${read}/${part}`, query) }
}

export function measuredStation(name: string): Measured {
  const part = encodeURIComponent(name)
  return { kind: 'station', name, pathOf: (read, query = '') => withQuery(`stations/${part}/${read}`, query) }
}

function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`
}
