/** What the queries have to know of a station. Plain data, so that it can be handed to a thread. */

export interface Station {
  readonly sn: string
  readonly timeZone: string
  readonly series: readonly { readonly number: number; readonly parameter: string }[]
}

/** Of the record of the registry, as one that has sent nothing: no points are looked for among those of all stations. */
export function silentStation(record: Pick<Parameters<typeof pointStation>[0], 'sn' | 'timezone'>): Station {
  return pointStation({ ...record, series: new Map() })
}

/** Of the record of the registry. */
export function pointStation(record: {
  readonly sn: string
  readonly timezone: string
  readonly series: ReadonlyMap<string, number>
}): Station {
  const { sn, timezone, series } = record
  return { sn, timeZone: timezone, series: Array.from(series, ([parameter, number]) => ({ number, parameter })) }
}
