/** Anomalies of one gauge: each episode of values out of range, spikes, jumps and flat lines. */

import { lowerBound, upperBound } from '../lower-bound.ts'
import { presentOf } from '../present.ts'
import { changeMax, type Quality } from '../quality/quality.ts'
import { errorBit, flatBit, rangeBit, rateBit, spikeBit } from '../quality/quality-limits.ts'
import { spikeSize } from '../quality/sensor-limits.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { type Episode, episodesOf, type MarkedSamples } from './episodes.ts'
import type { Anomaly } from './finding.ts'

export interface JudgedMetric extends MarkedSamples, Pick<Quality, 'limits'> {
  readonly name: string
}

/** One wild reading makes its neighbours suspect. It is reported once: as out of range, else as a spike or a jump. */
export function qualityAnomalies(metric: JudgedMetric, gaps: GapThresholds): Anomaly[] {
  const { name, limits } = metric
  const out = episodesOf(metric, rangeBit, gaps)
  const sizes = new NeighbourSizes(metric)
  const episode = ({ startMs, endMs, isLast, count }: Episode) => {
    return { metric: name, startMs, endMs: isLast ? null : endMs, count }
  }
  return [
    ...out.map(one => ({ code: 'out_of_range' as const, ...episode(one), ...farthest(one, limits.range) })),
    ...without(out, episodesOf(metric, spikeBit | rateBit, gaps)).map(one => {
      return { ...episode(one), endMs: one.endMs, ...sizes.reportedOf(one) }
    }),
    ...episodesOf(metric, errorBit, gaps).map(one => {
      return { code: 'error_code' as const, ...episode(one), value: one.last, expected: null }
    }),
    ...episodesOf(metric, flatBit, gaps).map(one => {
      return { code: 'flat_line' as const, ...episode(one), value: one.last, expected: null }
    }),
  ]
}

/** Ranges of metrics without a range test. */
const physicalRanges: ReadonlyMap<string, readonly [number, number]> = new Map([['humidity', [0, 100]]])

type Reported = Pick<Anomaly, 'value' | 'expected'>
type ReportedAt = Reported & Required<Pick<Anomaly, 'valueMs'>>

function farthest({ min, max }: Episode, range: JudgedMetric['limits']['range']): Reported {
  const [low, high] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const finite = (bound: number) => (Number.isFinite(bound) ? bound : null)
  return { value: max - high >= low - min ? max : min, expected: [finite(low), finite(high)] }
}

/** The entries of `episodes` that overlap with none in `others`. */
function without(others: readonly Episode[], episodes: readonly Episode[]): Episode[] {
  const sorted = others.toSorted((a, b) => a.startMs - b.startMs)
  const starts = Float64Array.from(sorted, ({ startMs }) => startMs)
  let reachedMs = Number.NEGATIVE_INFINITY
  const ends = Float64Array.from(sorted, ({ endMs }) => {
    reachedMs = Math.max(reachedMs, endMs)
    return reachedMs
  })
  return episodes.filter(({ startMs, endMs }) => {
    const before = upperBound(starts, endMs)
    return before === 0 || (ends[before - 1] as number) < startMs
  })
}

/** Sizes that the tests compared with their limits, computed only for episodes. */
class NeighbourSizes {
  readonly #limits: JudgedMetric['limits']
  readonly #timesMs: Float64Array
  readonly #values: Float64Array
  readonly #marks: Uint8Array
  readonly #range: readonly [number, number]

  constructor({ name, timesMs, values, marks, limits }: JudgedMetric) {
    const present = presentOf(timesMs, values)
    this.#limits = limits
    this.#range = limits.range ?? physicalRanges.get(name) ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    this.#timesMs = present.timesMs
    this.#values = present.values
    this.#marks = marks.filter((_, at) => !Number.isNaN(values[at]))
  }

  /** A spike where the values return to their earlier level, else a jump. */
  reportedOf(episode: Episode): ReportedAt & Pick<Anomaly, 'code'> {
    const places = this.#places(episode)
    const pointed = places.filter(at => this.#isMarked(at, spikeBit))
    const isStep = pointed.length === 0 || this.#isStep(places, pointed)
    return isStep ? { code: 'jump', ...this.#jump(places) } : { code: 'spike', ...this.#spike(pointed) }
  }

  /** True where the values keep their new level: both sides of a step are far from the means of their neighbours. */
  #isStep(places: readonly number[], pointed: readonly number[]): boolean {
    const [before, after] = [(places[0] as number) - 1, (places.at(-1) as number) + 1]
    const change = Math.abs((this.#values[after] as number) - (this.#values[before] as number))
    return (
      change >
      spikeSize(
        this.#values,
        this.#largest(pointed, at => spikeSize(this.#values, at)),
      )
    )
  }

  /** The value farthest from the mean of its neighbours. */
  #spike(pointed: readonly number[]): ReportedAt {
    const at = this.#largest(pointed, place => spikeSize(this.#values, place))
    const mean = ((this.#values[at - 1] as number) + (this.#values[at + 1] as number)) / 2
    return this.#reportedAt(at, mean, this.#limits.spike ?? 0)
  }

  /**
   * The value farthest from the one before, which may be the first after the episode. A value exceeds the limit only if
   * one of the two changes beside it is larger than the limit.
   */
  #jump(places: readonly number[]): ReportedAt {
    const last = places.at(-1) as number
    const candidates = this.#isMarked(last, spikeBit) ? [...places, last + 1] : places
    const at = this.#largest(candidates, place => this.#change(place))
    const limit = this.#isMarked(at, rateBit) ? this.#rateLimit(at) : (this.#limits.spike ?? 0)
    return this.#reportedAt(at, this.#values[at - 1] as number, limit)
  }

  #rateLimit(at: number): number {
    const { rate, usualChange } = this.#limits
    const limit = changeMax(rate, (this.#timesMs[at] as number) - (this.#timesMs[at - 1] as number))
    // The usual change between readings does not apply to gaps: there a smaller change may be a jump.
    return this.#change(at) > usualChange ? Math.max(usualChange, limit) : limit
  }

  #change(at: number): number {
    return Math.abs((this.#values[at] as number) - (this.#values[at - 1] as number))
  }

  #isMarked(at: number, bit: number): boolean {
    return ((this.#marks[at] as number) & bit) !== 0
  }

  #reportedAt(at: number, middle: number, distance: number): ReportedAt {
    const [low, high] = this.#range
    const expected = [Math.max(low, middle - distance), Math.min(high, middle + distance)] as const
    return { value: this.#values[at] as number, valueMs: this.#timesMs[at] as number, expected }
  }

  /** Indexes of the values of an episode, which has at least one. */
  #places({ startMs, endMs }: Episode): number[] {
    const from = lowerBound(this.#timesMs, startMs)
    return Array.from({ length: upperBound(this.#timesMs, endMs) - from }, (_, place) => from + place)
  }

  #largest(places: readonly number[], sizeAt: (place: number) => number): number {
    return places.reduce((largest, place) => (sizeAt(place) > sizeAt(largest) ? place : largest))
  }
}

/** Share of a flat line's readings with a known speed. */
const windyShareMin = 0.5

interface VaneSpeeds {
  /** Speeds at the times of the directions, NaN where missing. */
  readonly speeds: Float64Array
  /** A vane turns from this speed on. */
  readonly calmBelow: number
}

/** The marks of a vane without flat lines in which it was mostly calm. */
export function frozenMarks(
  { timesMs, marks }: Pick<JudgedMetric, 'timesMs' | 'marks'>,
  lines: readonly { readonly startMs: number; readonly endMs: number }[],
  { speeds, calmBelow }: VaneSpeeds,
): Uint8Array {
  const left = marks.slice()
  for (const { startMs, endMs } of lines) {
    const [from, to] = [lowerBound(timesMs, startMs), upperBound(timesMs, endMs)]
    const known = speeds.subarray(from, to).filter(speed => !Number.isNaN(speed))
    const windy = known.filter(speed => speed >= calmBelow).length
    if (known.length > 0 && windy >= windyShareMin * known.length) continue
    for (let index = from; index < to; index++) (left[index] as number) &= ~flatBit
  }
  return left
}
