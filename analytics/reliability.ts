/**
 * How reliably a device reports: uptime, completeness and gaps over a day, a week and thirty days that end now. Anchors:
 * Timescale's `heartbeat_agg` with its predecessor, and the three-quarters rule of Directive 2008/50/EC.
 */

import type { Cadence } from './cadence.ts'
import { arrivalsOf } from './coverage.ts'
import { findGaps, type Gap } from './gaps.ts'
import { type Jitter, jitterOf } from './jitter.ts'
import { localDays } from './local-days.ts'
import type { LocalTime } from './local-time.ts'
import { lowerBound } from './lower-bound.ts'
import { presentOf } from './present.ts'
import { type ReliabilityDay, reliabilityDays } from './reliability-days.ts'
import { type ReliabilityWindow, reliabilityWindow } from './reliability-window.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const windowsMs = { '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs }
const gapsMax = 50
const daysShown = 30

export interface ReliabilityInput {
  /**
   * Ascending: the readings of the last thirty days and of the thirty local days up to now, and before them the one that
   * precedes them where there is one, since a gap may reach into the window.
   */
  readonly timesMs: Float64Array
  /** By metric, as long as the times, NaN where missing. */
  readonly metrics: Readonly<Record<string, Float64Array>>
  /** The device's first reading ever, null when there is none. */
  readonly firstSeenMs: number | null
  readonly nowMs: number
  readonly cadence: Cadence
  readonly local: LocalTime
}

export interface Reliability extends Jitter {
  readonly windows: Record<keyof typeof windowsMs, ReliabilityWindow>
  readonly gap_threshold_seconds: number | null
  /** Those of the thirty days, newest first, at most fifty; `gaps_total` counts them all. */
  readonly gaps: Gap[]
  readonly gaps_total: number
  readonly days: ReliabilityDay[]
}

/** Everything ends at the full minute; readings of the future are left out. */
export function reliabilityOf(input: ReliabilityInput): Reliability {
  const { firstSeenMs, cadence, local } = input
  const endMs = Math.floor(input.nowMs / minuteMs) * minuteMs
  const timesMs = input.timesMs.subarray(0, lowerBound(input.timesMs, endMs))
  const arrivals = arrivalsOf(timesMs, cadence)
  const arrivalsByMetric = Object.fromEntries(
    Object.entries(input.metrics).map(([metric, values]) => [
      metric,
      arrivalsOf(presentOf(timesMs, values).timesMs, cadence),
    ]),
  )
  const gaps = gapsSince(endMs - windowsMs['30d'], timesMs, endMs, cadence)
  const window = (lengthMs: number) =>
    reliabilityWindow({ lengthMs, endMs, firstSeenMs, cadence, gaps, arrivals, arrivalsByMetric })
  const days = localDays(local, endMs, daysShown)
  return {
    windows: { '24h': window(windowsMs['24h']), '7d': window(windowsMs['7d']), '30d': window(windowsMs['30d']) },
    gap_threshold_seconds: cadence.gapMs === null ? null : cadence.gapMs / 1000,
    ...jitterSince(endMs - windowsMs['30d'], arrivals.thinnedMs, cadence),
    gaps: gaps.toReversed().slice(0, gapsMax),
    gaps_total: gaps.length,
    days: reliabilityDays({ days, endMs, firstSeenMs, cadence, arrivals }),
  }
}

function gapsSince(startMs: number, timesMs: Float64Array, endMs: number, { expectedMs, gapMs }: Cadence): Gap[] {
  if (expectedMs === null || gapMs === null) return []
  return findGaps(timesMs, endMs, { expectedMs, gapMs }).filter(gap => (gap.end_ms ?? endMs) > startMs)
}

function jitterSince(startMs: number, thinnedMs: Float64Array, { expectedMs, gapMs }: Cadence): Jitter {
  if (expectedMs === null || gapMs === null) return { jitter_seconds: null, jitter_p95_seconds: null }
  return jitterOf(thinnedMs.subarray(lowerBound(thinnedMs, startMs)), expectedMs, gapMs)
}
