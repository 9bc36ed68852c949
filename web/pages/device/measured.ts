/** What a page of readings is about: a device, or a station, whose answers are at other addresses. */

export interface Measured {
  readonly kind: 'device' | 'station'
  readonly name: string
  /** Behind `/api/`; what is read, such as `detail_data`, and the query string of that. */
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
