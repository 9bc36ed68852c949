/** Findings of a cold chain: its temperature has been outside of the limits for long. */

import { coldChainBand } from '../domain/cold-chain.ts'
import type { Band } from '../domain/figures.ts'
import { briefRuns, isByChance } from '../excursions/by-chance.ts'
import { type Excursion, findExcursions, holdsUntil } from '../excursions/excursions.ts'
import type { Samples } from '../present.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { type Finding, noDetails } from './finding.ts'
import { recentMs } from './from-quality.ts'

/** A door and a defrost are over earlier. */
const forMs = 1_800_000
/** Of the values: a freezer and a food cooler have other limits than a refrigerator of a pharmacy. */
const withinShareMin = 0.9

export interface ColdChainSamples extends Samples {
  readonly name: string
}

/** Of the last seven days, beyond the limits of the device, or of a refrigerator that keeps 2 to 8 °C. `samples`: of thirty days, in °C, of which none is NaN. */
export function excursionFinding(
  samples: ColdChainSamples,
  gaps: GapThresholds,
  nowMs: number,
  band: Band = coldChainBand,
): Finding | undefined {
  if (band === coldChainBand && !hasTheLimits(samples.values)) return undefined
  const { below, above } = band
  const range = { startMs: nowMs - recentMs, endMs: nowMs }
  const found = findExcursions(samples, { below, above, forMs, gaps, ...range, days: [range] }).episodes
  const untilMs = holdsUntil(samples.timesMs, { gaps, endMs: nowMs })
  const brief = {
    above: briefRuns(samples, forMs, { isBeyond: value => value > above, untilMs }),
    below: briefRuns(samples, forMs, { isBeyond: value => value < below, untilMs }),
  }
  const episodes = found.filter(episode => !isByChance(samples, episode, brief[episode.direction]))
  const worst = worstOf(episodes)
  if (worst === undefined) return undefined
  return {
    ...noDetails,
    code: 'excursion',
    severity: worst.isOngoing ? 'critical' : 'warning',
    metric: samples.name,
    sinceMs: worst.startMs,
    untilMs: worst.isOngoing ? null : worst.endMs,
    value: worst.extreme,
    expected: [below, above],
    count: episodes.length,
  }
}

function hasTheLimits(values: Float64Array): boolean {
  let within = 0
  const { below, above } = coldChainBand
  for (const value of values) if (value >= below && value <= above) within++
  return within >= withinShareMin * values.length
}

/** The one that goes on, or else the longest. */
function worstOf(episodes: readonly Excursion[]): Excursion | undefined {
  const last = episodes.at(-1)
  if (last?.isOngoing) return last
  return episodes.reduce<Excursion | undefined>((worst, one) => {
    return worst === undefined || one.endMs - one.startMs > worst.endMs - worst.startMs ? one : worst
  }, undefined)
}
