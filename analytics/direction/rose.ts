/**
 * A rose: how often each sector of the compass was measured. Stands for a direction's histogram, which would part north
 * in two. Sectors are of equal width, the first centred on north, the others follow clockwise.
 */

import { normaliseDegrees } from './degrees.ts'

/** 45°, 22.5° and 10° wide: the points of the compass, and the tens of degrees of weather reports. */
export type SectorCount = 8 | 16 | 36

export interface Rose {
  /** By sector; a direction on the edge of two belongs to the later one. */
  readonly sector_counts: number[]
  /** Those of the sectors and the calm ones. */
  readonly count: number
  /** Pairs with a speed below the limit, which count in no sector; null without speeds. */
  readonly calm_count: number | null
  /** `calm_count` / `count`; null without speeds or without a count. */
  readonly calm_share: number | null
}

export interface PairedSpeeds {
  /** As many as directions. */
  readonly speeds: Float64Array
  /** In their unit; WMO-No. 8 calls wind below 0.5 m/s calm. */
  readonly calmBelow: number
}

/**
 * Of `degrees[from, to)`, whatever the turn; a missing one counts nowhere. With speeds, a pair without a speed, or with a
 * negative one, counts nowhere either, and a calm needs no direction: many vanes give none then. Throws a RangeError when
 * there are not as many speeds as directions.
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

/** 0 is north; NaN for a direction that is none. */
function sectorOf(degrees: number, sectors: SectorCount): number {
  const width = 360 / sectors
  return Math.floor((normaliseDegrees(degrees) + width / 2) / width) % sectors
}
