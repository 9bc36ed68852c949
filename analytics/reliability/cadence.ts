/**
 * The expected interval of a device, from its configuration or from the times of its readings. The interval depends on
 * time: a device that reports every minute today and reported every five minutes last week had no gaps then.
 */

import { lowerBound } from '../lower-bound.ts'
import { constantStretches } from './cadence-changes.ts'
import { eventsOf } from './events.ts'
import { estimateInterval, gapIntervals, measuredRegularity } from './interval-estimate.ts'
import { irregularGap, type PacedGap, wallMsOf } from './irregular-gap.ts'

export interface CadenceStretch {
  /** It lasts from here, included, to the next one. An interval belongs to the stretch in which it begins. */
  readonly fromMs: number
  /** E. */
  readonly expectedMs: number
  /** G, the longest interval between two readings that is not a gap. */
  readonly gapMs: number
}

export interface Cadence {
  /** A configured device counts as regular, because its readings are due at known times. */
  readonly kind: 'regular' | 'irregular' | 'unknown'
  /** Current E, the expected interval; null when it is not configured and there are too few readings. */
  readonly expectedMs: number | null
  readonly source: 'configured' | 'estimated' | 'default'
  /** The share of intervals within a quarter of a multiple of E (of the shortest usual interval when irregular). */
  readonly regularity: number | null
  /** Current G; with `pacedGap`, the largest G of the day. */
  readonly gapMs: number | null
  /** G by the moment at which a silence begins, for an irregular device whose hours differ; else null. */
  readonly pacedGap: PacedGap | null
  /**
   * Ascending, the first from −∞, the last is the current one. Several only if E was estimated and changed; empty while
   * it is unknown.
   */
  readonly stretches: readonly CadenceStretch[]
}

const always = Number.NEGATIVE_INFINITY
const hourMs = 3_600_000

/** Takes the readings' times, ascending. A burst counts as one event. `configuredMs` null: not configured. */
export function cadenceOf(allMs: Float64Array, configuredMs: number | null): Cadence {
  if (configuredMs !== null) {
    const regularity = measuredRegularity(allMs, configuredMs)
    return cadenceFrom('regular', 'configured', regularity, [regularStretch(always, configuredMs)])
  }
  return estimatedCadence(eventsOf(allMs))
}

/** Uses raw times: six openings of a door are not a recurring event. */
export function estimatedCadence(timesMs: Float64Array): Cadence {
  const changes = constantStretches(timesMs)
  if (changes.length > 1) {
    const stretches = changes.map(({ fromMs, expectedMs }) => regularStretch(fromMs, expectedMs))
    const { fromMs, expectedMs } = stretches.at(-1) as CadenceStretch
    const regularity = measuredRegularity(timesMs.subarray(lowerBound(timesMs, fromMs)), expectedMs)
    return cadenceFrom('regular', 'estimated', regularity, stretches)
  }
  const estimate = estimateInterval(timesMs)
  if (estimate === null) return cadenceFrom('unknown', 'default', null, [])
  const { kind, expectedMs, regularity } = estimate
  if (kind === 'regular') return cadenceFrom(kind, 'estimated', regularity, [regularStretch(always, expectedMs)])
  const { gapMs, paced } = irregularGap(timesMs)
  return cadenceFrom(kind, 'estimated', regularity, [{ fromMs: always, expectedMs, gapMs }], paced)
}

/** G of a silence that begins at this moment; `gapMs` is its stretch's G. */
export function gapMsAt<Gap extends number | null>(
  { pacedGap }: Pick<Cadence, 'pacedGap'>,
  gapMs: Gap,
  timeMs: number,
): number | Gap {
  if (pacedGap === null) return gapMs
  const beginningMs = pacedGap.beginningMs[Math.floor(timeMs / hourMs) % 24] ?? 0
  return Math.max(wallMsOf(pacedGap.gapMs, timeMs, pacedGap.pace), beginningMs)
}

function regularStretch(fromMs: number, expectedMs: number): CadenceStretch {
  return { fromMs, expectedMs, gapMs: gapIntervals * expectedMs }
}

function cadenceFrom(
  kind: Cadence['kind'],
  source: Cadence['source'],
  regularity: number | null,
  stretches: readonly CadenceStretch[],
  pacedGap: PacedGap | null = null,
): Cadence {
  const { expectedMs = null, gapMs = null } = stretches.at(-1) ?? {}
  return { kind, source, regularity, expectedMs, gapMs, pacedGap, stretches }
}

/** The readings due in [startMs, endMs), a real number; 0 while the interval is unknown. */
export function expectedBetween({ stretches }: Cadence, startMs: number, endMs: number): number {
  let expected = 0
  for (const [place, { fromMs, expectedMs }] of stretches.entries()) {
    const untilMs = stretches[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    const lengthMs = Math.min(endMs, untilMs) - Math.max(startMs, fromMs)
    if (lengthMs > 0) expected += lengthMs / expectedMs
  }
  return expected
}

/** Thresholds G by time. */
export type GapThresholds = readonly Pick<CadenceStretch, 'fromMs' | 'gapMs'>[]

/** Finds the stretch of a time in a loop over ascending times. */
export class StretchCursor<Stretch extends Pick<CadenceStretch, 'fromMs'>> {
  readonly #stretches: readonly Stretch[]
  #place = 0
  #untilMs: number

  constructor(stretches: readonly Stretch[]) {
    this.#stretches = stretches
    this.#untilMs = stretches[1]?.fromMs ?? Number.POSITIVE_INFINITY
  }

  /** Undefined while no interval is known. */
  at(timeMs: number): Stretch | undefined {
    while (timeMs >= this.#untilMs) {
      this.#place++
      this.#untilMs = this.#stretches[this.#place + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    }
    return this.#stretches[this.#place]
  }
}
