/** When data of stations came, by the points that some process took. */

import type { DataTimes } from './data-times.ts'
import type { Station } from './station.ts'

/** Points of one group, each of a series by its number, and when they were taken. */
export interface HeardPoints {
  readonly place: { readonly receiptMs: number } | undefined
  next(): boolean
  readonly series: number
}

interface AllStations {
  readonly all: readonly Station[]
}

/** `registry`: the same object until something has changed. */
export function createHeardPoints(
  registry: () => Promise<AllStations>,
  dataTimes: Pick<DataTimes, 'heard'>,
): (points: HeardPoints) => void {
  const indexes = new WeakMap<AllStations, ReadonlyMap<number, Station>>()

  async function stationsBySeries(): Promise<ReadonlyMap<number, Station>> {
    const found = await registry()
    const known = indexes.get(found)
    if (known !== undefined) return known
    const index = new Map(found.all.flatMap(station => [...station.series.values()].map(number => [number, station])))
    indexes.set(found, index)
    return index
  }

  async function note(series: ReadonlySet<number>, receiptMs: number): Promise<void> {
    const bySeries = await stationsBySeries()
    for (const number of series) {
      const station = bySeries.get(number)
      if (station !== undefined) dataTimes.heard(station, receiptMs)
    }
  }

  return points => {
    const series = new Set<number>()
    while (points.next()) series.add(points.series)
    // Without PostgreSQL it is known later, by what the process saves that took them.
    void note(series, points.place?.receiptMs ?? 0).catch(() => undefined)
  }
}
