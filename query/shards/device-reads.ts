/** Where queries read, as the main thread tells the threads: by the placement, and by what each shard has expired and has in its view. */

import { type Place, type Placement, placesOf, shardsWithin } from '../../placement/placement.ts'
import type { HourSources } from '../questdb/hourly-sql.ts'
import type { DeviceReads } from '../task.ts'
import type { NeededShards } from './answering-shards.ts'

/** The points of stations are not dealt out. */
export const stationShard = 1

const { NEGATIVE_INFINITY: everUs, POSITIVE_INFINITY: alwaysUs } = Number

export interface DevicePlan extends DeviceReads {
  readonly needed: NeededShards
}

export interface ReadsPlan {
  ofDevice(deviceNumber: number): DevicePlan
  /** Of many devices in a range; undefined: of all that there are. */
  ofMany(devices: readonly Numbered[] | undefined, fromUs: number, toUs: number): NeededShards
  /** Of one shard. */
  hourSources(shard: number): HourSources
  /** What holds for each shard. */
  commonHourSources(): HourSources
}

interface Numbered {
  readonly number: number
}

interface ReadsPlanOptions {
  readonly placement: () => Placement
  readonly hourSources: (shard: number) => HourSources
}

export function createReadsPlan({ placement, hourSources }: ReadsPlanOptions): ReadsPlan {
  return {
    hourSources,
    ofDevice(deviceNumber) {
      const places = placesOf(placement(), deviceNumber, everUs, alwaysUs)
      const [place] = places
      const shards = [...new Set(places.map(({ shard }) => shard))]
      if (places.length === 1 && place !== undefined) {
        return { places, hourSources: hourSources(place.shard), needed: { shards, isEachRead: true } }
      }
      const { behind, ...sources } = joinedSources(places, hourSources)
      return { places, hourSources: sources, needed: { shards, behind, isEachRead: false } }
    },
    ofMany(devices, fromUs, toUs) {
      const of = placement()
      const shards = devices === undefined ? shardsWithin(of, fromUs, toUs) : shardsOf(of, devices, fromUs, toUs)
      return { shards, isEachRead: true }
    },
    commonHourSources() {
      const sources = shardsWithin(placement(), everUs, alwaysUs).map(hourSources)
      return {
        rawFromUs: Math.min(...sources.map(({ rawFromUs }) => rawFromUs)),
        expiredBeforeUs: Math.min(...sources.map(({ expiredBeforeUs }) => expiredBeforeUs)),
      }
    },
  }
}

/** Those that have rows of these devices in the range, ascending. */
export function shardsOf(placement: Placement, devices: readonly Numbered[], fromUs: number, toUs: number): number[] {
  const all = shardsWithin(placement, fromUs, toUs)
  if (all.length === 1) return all
  const found = new Set<number>()
  for (const { number } of devices) {
    for (const { shard } of placesOf(placement, number, fromUs, toUs)) found.add(shard)
    // Of a large fleet the first devices are on all of them.
    if (found.size === all.length) break
  }
  return all.filter(shard => found.has(shard))
}

/**
 * Of a device that has been on several shards. All of them expire the same days, one a little after the other: a shard that still has readings of
 * days that a later place has expired, or of which that is not known, is behind.
 */
function joinedSources(
  places: readonly Place[],
  hourSources: (shard: number) => HourSources,
): HourSources & { readonly behind: readonly number[] } {
  const all = places.map(place => ({ ...place, ...hourSources(place.shard) }))
  const ends = all.map(({ fromUs, toUs, expiredBeforeUs }) =>
    expiredBeforeUs > fromUs ? Math.min(toUs, expiredBeforeUs) : everUs,
  )
  const expiredBeforeUs = Math.max(...ends)
  const behind = all.filter((place, at) => {
    return place.fromUs < expiredBeforeUs && (ends[at] as number) < Math.min(place.toUs, expiredBeforeUs)
  })
  const kept = all.filter(({ toUs }) => toUs > expiredBeforeUs)
  return {
    rawFromUs: Math.min(...kept.map(({ rawFromUs }) => rawFromUs)),
    expiredBeforeUs,
    behind: [...new Set(behind.map(({ shard }) => shard))],
  }
}
