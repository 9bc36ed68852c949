/** The queries' data about a station: plain data, so that it can be posted to a thread. */

export interface Station {
  readonly sn: string
  readonly timeZone: string
  readonly series: readonly { readonly number: number; readonly parameter: string }[]
}

/** A station of the registry without points yet. It avoids a search among the points of all stations. */
export function silentStation(record: Pick<Parameters<typeof pointStation>[0], 'sn' | 'timezone'>): Station {
  return pointStation({ ...record, series: new Map() })
}

/** A station of the registry. */
export function pointStation(record: {
  readonly sn: string
  readonly timezone: string
  readonly series: ReadonlyMap<string, number>
}): Station {
  const { sn, timezone, series } = record
  return { sn, timeZone: timezone, series: Array.from(series, ([parameter, number]) => ({ number, parameter })) }
}
