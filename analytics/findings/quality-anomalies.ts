/** Anomalies of one gauge: each episode of values out of range, spikes, jumps and flat lines. */

import { lowerBound, upperBound } from '../lower-bound.ts'
import { presentOf } from '../present.ts'
import { changeMax, type Quality } from '../quality/quality.ts'
import { flatBit, rangeBit, rateBit, spikeBit } from '../quality/quality-marks.ts'
import { spikeSize } from '../quality/sensor-limits.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import type { Anomaly } from './anomaly.ts'
import { type Episode, episodesOf, type MarkedSamples } from './episodes.ts'

export interface JudgedMetric extends MarkedSamples, Pick<Quality, 'limits'> {
  readonly name: string
}

/** What one wild reading does to its neighbours is told once: as out of range, else as a spike, else as a jump. */
export function qualityAnomalies(metric: JudgedMetric, gaps: GapThresholds): Anomaly[] {
  const { name, limits } = metric
  const out = episodesOf(metric, rangeBit, gaps)
  const sizes = new NeighbourSizes(metric)
  const pointed = episodesOf(metric, spikeBit, gaps)
  const spikes = without(out, pointed)
  const jumps = without([...out, ...pointed], episodesOf(metric, rateBit, gaps))
  const isStep = (one: Episode) => sizes.isStep(one)
  const [steps, peaks] = [spikes.filter(isStep), spikes.filter(one => !isStep(one))]
  const episode = ({ startMs, endMs, isLast, count }: Episode) => {
    return { metric: name, startMs, endMs: isLast ? null : endMs, count }
  }
  return [
    ...out.map(one => ({ code: 'out_of_range' as const, ...episode(one), ...farthest(one, limits.range) })),
    ...peaks.map(one => ({ code: 'spike' as const, ...episode(one), endMs: one.endMs, ...sizes.largestSpike(one) })),
    ...[...steps, ...jumps].map(one => {
      return { code: 'jump' as const, ...episode(one), endMs: one.endMs, ...sizes.largestJump(one) }
    }),
    ...episodesOf(metric, flatBit, gaps).map(one => {
      return { code: 'flat_line' as const, ...episode(one), value: one.first, expected: null }
    }),
  ]
}

type Told = Pick<Anomaly, 'value' | 'expected'>

function farthest({ min, max }: Episode, range: JudgedMetric['limits']['range']): Told {
  const [low, high] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const finite = (bound: number) => (Number.isFinite(bound) ? bound : null)
  return { value: max - high >= low - min ? max : min, expected: [finite(low), finite(high)] }
}

/** Those of `episodes` that overlap none of the others. */
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

/** Sizes that the tests compared with their limits, looked up where an episode is. */
class NeighbourSizes {
  readonly #limits: JudgedMetric['limits']
  readonly #timesMs: Float64Array
  readonly #values: Float64Array

  constructor({ timesMs, values, limits }: JudgedMetric) {
    const present = presentOf(timesMs, values)
    this.#limits = limits
    this.#timesMs = present.timesMs
    this.#values = present.values
  }

  /** Whether the values stay where they went: both sides of a step are far from the means of their neighbours. */
  isStep(episode: Episode): boolean {
    const places = this.#places(episode)
    const [before, after] = [(places[0] as number) - 1, (places.at(-1) as number) + 1]
    const change = Math.abs((this.#values[after] as number) - (this.#values[before] as number))
    return (
      change >
      spikeSize(
        this.#values,
        this.#largest(places, at => spikeSize(this.#values, at)),
      )
    )
  }

  /** The value farthest from the mean of its neighbours. */
  largestSpike(episode: Episode): Told {
    const at = this.#largest(this.#places(episode), place => spikeSize(this.#values, place))
    const mean = ((this.#values[at - 1] as number) + (this.#values[at + 1] as number)) / 2
    return { value: this.#values[at] as number, expected: around(mean, this.#limits.spike ?? 0) }
  }

  /** The value farthest from the one before. */
  largestJump(episode: Episode): Told {
    const sizeAt = (at: number) => Math.abs((this.#values[at] as number) - (this.#values[at - 1] as number))
    const at = this.#largest(this.#places(episode), sizeAt)
    const intervalMs = (this.#timesMs[at] as number) - (this.#timesMs[at - 1] as number)
    const { rate, usualChange, spike } = this.#limits
    const change = Math.max(usualChange, changeMax(rate, intervalMs))
    // A step that no rate limits is twice as high as it is far from the means.
    const distance = Number.isFinite(change) ? change : 2 * (spike ?? 0)
    return { value: this.#values[at] as number, expected: around(this.#values[at - 1] as number, distance) }
  }

  /** Of the values of an episode, which has one at least. */
  #places({ startMs, endMs }: Episode): number[] {
    const from = lowerBound(this.#timesMs, startMs)
    return Array.from({ length: upperBound(this.#timesMs, endMs) - from }, (_, place) => from + place)
  }

  #largest(places: readonly number[], sizeAt: (place: number) => number): number {
    return places.reduce((largest, place) => (sizeAt(place) > sizeAt(largest) ? place : largest))
  }
}

function around(value: number, distance: number): readonly [number, number] {
  return [value - distance, value + distance]
}
