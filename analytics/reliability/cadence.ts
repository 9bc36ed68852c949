/**
 * How often a device is expected to report, from its configuration or from the times of its readings. The interval follows
 * time: a device that reports every minute today and reported every five minutes last week had no gaps then.
 */

import { lowerBound } from '../lower-bound.ts'
import { constantStretches } from './cadence-changes.ts'
import { estimateInterval, gapIntervals, measuredRegularity } from './interval-estimate.ts'
import { irregularGapMs } from './irregular-gap.ts'

/** A stretch of time with one expected interval. */
export interface CadenceStretch {
  /** It lasts from here, included, to the next one. An interval belongs to the stretch in which it begins. */
  readonly fromMs: number
  /** E. */
  readonly expectedMs: number
  /** G, the longest interval between two readings that is not a gap. */
  readonly gapMs: number
}

export interface Cadence {
  /** A configured device counts as regular: it says itself when it is due. */
  readonly kind: 'regular' | 'irregular' | 'unknown'
  /** E now, the expected interval; null when it is not configured and there are too few readings. */
  readonly expectedMs: number | null
  readonly source: 'configured' | 'estimated' | 'default'
  /** The share of intervals within a quarter of a multiple of E (of the shortest usual interval when irregular). */
  readonly regularity: number | null
  /** G now. */
  readonly gapMs: number | null
  /** Ascending, the first from −∞, the last as it is now; one unless E was estimated and changed; none while it is unknown. */
  readonly stretches: readonly CadenceStretch[]
}

const always = Number.NEGATIVE_INFINITY

/** Of the readings' times, ascending. `configuredMs` null: not configured. */
export function cadenceOf(timesMs: Float64Array, configuredMs: number | null): Cadence {
  if (configuredMs !== null) {
    const regularity = measuredRegularity(timesMs, configuredMs)
    return cadenceFrom('regular', 'configured', regularity, [regularStretch(always, configuredMs)])
  }
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
  const gapMs = kind === 'regular' ? gapIntervals * expectedMs : irregularGapMs(timesMs)
  return cadenceFrom(kind, 'estimated', regularity, [{ fromMs: always, expectedMs, gapMs }])
}

function regularStretch(fromMs: number, expectedMs: number): CadenceStretch {
  return { fromMs, expectedMs, gapMs: gapIntervals * expectedMs }
}

function cadenceFrom(
  kind: Cadence['kind'],
  source: Cadence['source'],
  regularity: number | null,
  stretches: readonly CadenceStretch[],
): Cadence {
  const now = stretches.at(-1)
  return { kind, source, regularity, expectedMs: now?.expectedMs ?? null, gapMs: now?.gapMs ?? null, stretches }
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

/** G by time. */
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
