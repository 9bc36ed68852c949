/** Where a task reads a device from. */

import type { Place } from '../../placement/placement.ts'
import { createPlacedMeasurements } from './placed-measurements.ts'
import { createPlacedReadings } from './placed-readings.ts'
import type { OpenShard, ShardReads } from './shard-reads.ts'

/** The sources of the one shard that the device is on, or of those that it has been on, as one. */
export function sourcesOf(places: readonly Place[], open: OpenShard): Pick<ShardReads, 'source' | 'measurements'> {
  const [place, ...others] = places
  if (place !== undefined && others.length === 0) {
    const { source, measurements } = open(place.shard)
    return { source, measurements }
  }
  return { source: createPlacedReadings(places, open), measurements: createPlacedMeasurements(places, open) }
}
