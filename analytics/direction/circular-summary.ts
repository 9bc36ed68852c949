/**
 * Mean and spread of directions: circular statistics, since 350° and 10° average to 0°.
 *
 * Source: K. V. Mardia and P. E. Jupp, Directional Statistics (2000), chapter 2. scipy.stats: `circmean`, `circvar`,
 * `circstd` with `high=360`; astropy.stats.circstats: the same with weights, and `rayleightest`.
 */

import { CompensatedSum } from '../compensated-sum.ts'
import { cosineOf, directionOf, normaliseDegrees, sineOf, toDegrees, toRadians, turnBetween } from './degrees.ts'

/**
 * Vectors whose mean is shorter than this share of their mean length cancel out: rounding leaves up to 1e-15 of them,
 * and a rest this small is meaningless for every series.
 */
export const resultantMin = 1e-12

/** Null without an angle of positive weight, except for the counts. */
export interface CircularSummary {
  /** Counted angles: finite, with a weight above 0. */
  readonly count: number
  /** The mean is within [0, 360). Null also where the angles cancel out, R below 1e-12. */
  readonly mean_degrees: number | null
  /** R, the length of the mean of unit vectors, 0 (spread or cancelled out) to 1 (all equal). */
  readonly resultant_length: number | null
  /** 1 − R. */
  readonly circular_variance: number | null
  /** √(−2 ln R), in degrees; null also where the angles cancel out, where it has no bound. */
  readonly circular_std_degrees: number | null
  /**
   * The Rayleigh test: the probability that independent angles without a preferred direction have such a large R.
   * Consecutive readings of a vane are dependent, so for them it is far too small.
   */
  readonly rayleigh_p_value: number | null
}

/**
 * Summarises `degrees[from, to)`, which may be any number of turns; NaN and infinite ones are missing. Weights default
 * to 1. Throws a RangeError for a negative or NaN weight, and unless there is one for each angle.
 */
export function circularSummary(
  degrees: Float64Array,
  weights?: Float64Array,
  from = 0,
  to = degrees.length,
): CircularSummary {
  if (weights !== undefined) checkWeights(weights, degrees.length)
  const { count, weight, sine, cosine } = meanVector(degrees, weights, from, to)
  if (count === 0) return { count, ...nothing }
  const resultant = Math.min(1, Math.hypot(sine, cosine))
  const rayleigh_p_value = rayleighPValue(resultant, count)
  if (resultant < resultantMin) {
    const cancelled = { resultant_length: resultant, circular_variance: 1 - resultant, circular_std_degrees: null }
    return { count, mean_degrees: null, ...cancelled, rayleigh_p_value }
  }
  const mean = directionOf(sine, cosine)
  const variance = varianceAround(mean, degrees, weights, from, to) / weight
  // Each form is exact where the other is a difference of nearly equal numbers.
  const isNarrow = variance < 0.5
  return {
    count,
    mean_degrees: mean,
    resultant_length: isNarrow ? 1 - variance : resultant,
    circular_variance: isNarrow ? variance : 1 - resultant,
    circular_std_degrees: toDegrees(Math.sqrt(-2 * (isNarrow ? Math.log1p(-variance) : Math.log(resultant)))),
    rayleigh_p_value,
  }
}

/** The same from the count and the means of the unit vectors. A narrow spread has fewer digits. */
export function circularSummaryOf({
  count,
  sine,
  cosine,
}: Readonly<Record<'count' | 'sine' | 'cosine', number>>): Omit<CircularSummary, 'rayleigh_p_value'> {
  const resultant = Math.min(1, Math.hypot(sine, cosine))
  const hasMean = resultant >= resultantMin
  return {
    count,
    mean_degrees: hasMean ? directionOf(sine, cosine) : null,
    resultant_length: resultant,
    circular_variance: 1 - resultant,
    circular_std_degrees: hasMean ? toDegrees(Math.sqrt(-2 * Math.log(resultant))) : null,
  }
}

const nothing = {
  mean_degrees: null,
  resultant_length: null,
  circular_variance: null,
  circular_std_degrees: null,
  rayleigh_p_value: null,
}

function checkWeights(weights: Float64Array, length: number): void {
  if (weights.length !== length) throw new RangeError(`${weights.length} weights for ${length} angles`)
  for (let index = 0; index < length; index++) {
    if (!((weights[index] as number) >= 0)) throw new RangeError(`invalid weight ${weights[index]}`)
  }
}

interface MeanVector {
  readonly count: number
  readonly weight: number
  readonly sine: number
  readonly cosine: number
}

function meanVector(degrees: Float64Array, weights: Float64Array | undefined, from: number, to: number): MeanVector {
  const sines = new CompensatedSum()
  const cosines = new CompensatedSum()
  const all = new CompensatedSum()
  let count = 0
  for (let index = from; index < to; index++) {
    const angle = normaliseDegrees(degrees[index] as number)
    const weight = weights === undefined ? 1 : (weights[index] as number)
    if (Number.isNaN(angle) || weight === 0) continue
    count++
    all.add(weight)
    sines.add(weight * sineOf(angle))
    cosines.add(weight * cosineOf(angle))
  }
  const weight = all.total
  return { count, weight, sine: sines.total / weight, cosine: cosines.total / weight }
}

/** Σ w (1 − cos(θ − mean)), in a form that keeps its digits where all angles are near the mean. */
function varianceAround(
  mean: number,
  degrees: Float64Array,
  weights: Float64Array | undefined,
  from: number,
  to: number,
): number {
  const sum = new CompensatedSum()
  for (let index = from; index < to; index++) {
    const angle = normaliseDegrees(degrees[index] as number)
    if (Number.isNaN(angle)) continue
    const half = Math.sin(toRadians(turnBetween(mean, angle)) / 2)
    sum.add((weights === undefined ? 1 : (weights[index] as number)) * 2 * half * half)
  }
  return sum.total
}

/**
 * exp(−z) with z = n R², for fewer than 50 angles with the terms of order 1/n and 1/n² (Mardia and Jupp 2000, section
 * 6.3.1; D. Wilkie, "Rayleigh Test for Randomness of Circular Data", Applied Statistics 32, 1983).
 */
function rayleighPValue(resultant: number, count: number): number {
  const z = count * resultant * resultant
  const p = Math.exp(-z) * (count < 50 ? rayleighCorrection(z, count) : 1)
  return Math.min(1, Math.max(0, p))
}

function rayleighCorrection(z: number, count: number): number {
  const second = 24 * z - 132 * z ** 2 + 76 * z ** 3 - 9 * z ** 4
  return 1 + (2 * z - z * z) / (4 * count) - second / (288 * count * count)
}

interface DirectionAgreement {
  /** Pairs without a missing value. */
  readonly n: number
  /** The circular mean of a − b, within [−180, 180]; null without a pair, and where the differences cancel out. */
  readonly bias: number | null
  /** The mean absolute difference, 0 to 180. */
  readonly mae: number | null
  /** R of the differences: 1 where they are all equal. */
  readonly resultant_length: number | null
}

/** a − b within [−180, 180]; NaN where one is missing. Both arrays have the same length. */
export function directionDifferences(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((degrees, index) => turnBetween(normaliseDegrees(b[index] as number), normaliseDegrees(degrees)))
}

export function directionAgreement(differences: Float64Array): DirectionAgreement {
  const { count, mean_degrees, resultant_length } = circularSummary(differences)
  let sum = 0
  for (const difference of differences) if (!Number.isNaN(difference)) sum += Math.abs(difference)
  const bias = mean_degrees === null ? null : turnBetween(0, mean_degrees)
  return { n: count, bias, mae: count === 0 ? null : sum / count, resultant_length }
}

/** 45°, 22.5° and 10° wide: the points of the compass, and the tens of degrees of weather reports. */
export type SectorCount = 8 | 16 | 36

interface Rose {
  /** One value for each sector. A direction on the edge of two sectors belongs to the later one. */
  readonly sector_counts: number[]
  /** Sum of all sectors and the calm pairs. */
  readonly count: number
  /** Pairs with a speed below the limit, which count in no sector; null without speeds. */
  readonly calm_count: number | null
  /** `calm_count` / `count`; null without speeds or without a count. */
  readonly calm_share: number | null
}

interface PairedSpeeds {
  /** One for each direction. */
  readonly speeds: Float64Array
  /** The limit is in the unit of the speeds. WMO-No. 8 calls wind below 0.5 m/s calm. */
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
