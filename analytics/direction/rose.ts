/**
 * A rose: how often each sector of the compass was measured. It replaces a direction's histogram, which would divide
 * north in two. Sectors are of equal width. The first is centred on north, the others follow clockwise.
 */

import { normaliseDegrees } from './degrees.ts'

/** 45°, 22.5° and 10° wide: the points of the compass, and the tens of degrees of weather reports. */
export type SectorCount = 8 | 16 | 36

export interface Rose {
  /** By sector; a direction on the edge of two belongs to the later one. */
  readonly sector_counts: number[]
  /** Sum of all sectors and the calm pairs. */
  readonly count: number
  /** Pairs with a speed below the limit, which count in no sector; null without speeds. */
  readonly calm_count: number | null
  /** `calm_count` / `count`; null without speeds or without a count. */
  readonly calm_share: number | null
}

export interface PairedSpeeds {
  /** One for each direction. */
  readonly speeds: Float64Array
  /** In their unit; WMO-No. 8 calls wind below 0.5 m/s calm. */
  readonly calmBelow: number
}

/**
 * Counts `degrees[from, to)`, which may be any number of turns; missing ones are ignored. With speeds, pairs with a
 * missing or negative speed are ignored too, and a calm needs no direction, because many vanes give none then. Throws a
 * RangeError unless there is one speed for each direction.
 */
export function rose(
  degrees: Float64Array,
  sectors: SectorCount,
  paired?: PairedSpeeds,
  from = 0,
  to = degrees.length,
): Rose {
  if (paired !== undefined && paired.speeds.length !== degrees.length) {
    throw new RangeError(`${paired.speeds.length} speeds for ${degrees.length} directions`)
  }
  const counts = new Uint32Array(sectors)
  let calm = 0
  let count = 0
  for (let index = from; index < to; index++) {
    const speed = paired?.speeds[index] ?? Number.POSITIVE_INFINITY
    if (!(speed >= 0)) continue
    const isCalm = paired !== undefined && speed < paired.calmBelow
    const sector = sectorOf(degrees[index] as number, sectors)
    if (isCalm) calm++
    else if (Number.isNaN(sector)) continue
    else counts[sector] = (counts[sector] as number) + 1
    count++
  }
  const sector_counts = Array.from(counts)
  if (paired === undefined) return { sector_counts, count, calm_count: null, calm_share: null }
  return { sector_counts, count, calm_count: calm, calm_share: count === 0 ? null : calm / count }
}

/** 0 is north; NaN for a missing direction. */
function sectorOf(degrees: number, sectors: SectorCount): number {
  const width = 360 / sectors
  return Math.floor((normaliseDegrees(degrees) + width / 2) / width) % sectors
}
