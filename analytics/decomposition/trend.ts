/**
 * Decides whether a series rises or falls. A trend requires that the slope's interval excludes 0 and two tests agree:
 * the one of Mann and Kendall, and one against a wandering level, which a rejected unit root may replace. The tests use
 * daily means, which lack the daily cycle and most of the memory, and at least ten of them. A trend needs three cycles
 * of a season: shorter seasons remain undetected, because a peak has to fit in four times.
 */

import { quantile } from 'simple-statistics'
import { midRanks } from '../correlation/ranks.ts'
import { normalQuantile975, studentTwoSidedP } from '../correlation/student.ts'
import { leastSquares } from '../forecast/least-squares.ts'
import { type Reason, reasons } from '../reasons.ts'
import { erfc } from '../special-functions.ts'
import { momentsOf } from '../summary/moments.ts'
import { bridgeGaps } from '../time/fill-gaps.ts'
import { dayMeans } from './deseasonalise.ts'
import { detrend, detrendBesideDay } from './detrend.ts'
import { type SlopeInterval, slopeInterval } from './slope-interval.ts'

const hoursPerDay = 24
const level = 0.05

export interface Trend {
  /** Contains the true slope in 95 % of the cases, per day. The estimated slope is in it. */
  readonly slopeInterval: [number, number] | null
  readonly nEffective: number | null
  readonly theilSenPerDay: number | null
  readonly mannKendall: Omit<MannKendall, 'slope'> | null
  readonly drift: Drift | null
  /** `none` where nothing is significant; null where only some tests are. */
  readonly direction: 'rising' | 'falling' | 'none' | null
  /** The reason for a missing direction. */
  readonly reason: Reason | null
}

export interface TrendInput {
  /** Means of hours, NaN where missing, and their local hours 0 … 23. */
  readonly hourly: Float64Array
  readonly localHours: Uint8Array
  readonly slopePerDay: number
  /** With a daily season, the season is not noise of the slope, and an incomplete day at either end is not a trend. */
  readonly hasDay: boolean
}

export function trendOf(input: TrendInput): Trend {
  const { hourly, localHours, slopePerDay, hasDay } = input
  const { slopePerCell, residual } = hasDay ? detrendBesideDay(hourly, localHours) : detrend(hourly)
  const found = slopeInterval(residual)
  const interval = found && (hasDay ? besideDay(found, slopePerCell, input) : around(slopePerDay, found))
  const days = dayMeans(hourly)
  const test = mannKendall(days.numbers, days.means)
  const drift = driftTest(days.means)
  const figures = {
    slopeInterval: interval,
    nEffective: found?.nEffective ?? null,
    theilSenPerDay: test?.slope ?? null,
    mannKendall: test && { tau: test.tau, z: test.z, pValue: test.pValue },
    drift,
  }
  if (test === null || drift === null) return { ...figures, direction: null, reason: reasons.fewDays }
  if (interval === null) return { ...figures, direction: null, reason: reasons.longMemory }
  // Days that alternate leave no variance and have no trend.
  const [ofSlope, ofDays] = [sideOf(interval), (test.pValue ?? 1) <= level ? Math.sign(test.tau) : 0]
  const drifts = drift.pValue <= level ? Math.sign(drift.t) : 0
  // A series that returns to its line does not wander, so that the line is its trend.
  const isLine = drifts === 0 && ofSlope !== 0 && ofSlope === ofDays && returnsToLine(hourly)
  const signs = [ofSlope, ofDays, isLine ? ofSlope : drifts]
  return { ...figures, ...directionOf(signs) }
}

function around(slopePerDay: number, { halfWidth }: SlopeInterval): [number, number] {
  const half = halfWidth * hoursPerDay
  return [slopePerDay - half, slopePerDay + half]
}

/**
 * Interval around the slope of the regression with the day, extended to the slope itself where the day tilts it out.
 * The variance accounts for the 24 degrees of freedom of the day's levels.
 */
function besideDay(
  { nEffective, halfWidth }: SlopeInterval,
  slopePerCell: number,
  { hourly, slopePerDay }: TrendInput,
): [number, number] {
  const { count } = momentsOf(hourly)
  const wider = Math.sqrt(count / Math.max(1, count - hoursPerDay))
  const [low, high] = around(slopePerCell * hoursPerDay, { nEffective, halfWidth: wider * halfWidth })
  return [Math.min(slopePerDay, low), Math.max(slopePerDay, high)]
}

/** 1 or −1 where an interval excludes 0, else 0. */
function sideOf([low, high]: readonly [number, number]): number {
  if (low > 0) return 1
  return high < 0 ? -1 : 0
}

/** `signs` has 1, −1, or 0 (not significant) for each of the tests. */
function directionOf(signs: readonly number[]): Pick<Trend, 'direction' | 'reason'> {
  const [first] = signs
  if (signs.some(sign => sign !== first)) return { direction: null, reason: reasons.testsDisagree }
  if (first === 0) return { direction: 'none', reason: null }
  return { direction: first === 1 ? 'rising' : 'falling', reason: null }
}

/**
 * Tests whether a level moves in one direction or only wanders: a random walk often ends far from its start. The test
 * concerns the mean Δ of the differences of neighbouring values: t = Δ/√(LRV/n) with their long-run variance LRV = γ₀ +
 * 2·Σ_{k≤L}(1 − k/(L + 1))·γ_k, L = ⌊√n⌋ (Bartlett's window), and 3n/(L + 1) degrees of freedom (Priestley, Spectral
 * Analysis and Time Series, 1981). Steps of a random walk are independent, so that LRV is their variance. Steps
 * of noise about a line nearly cancel: then the test is as strong as one of the line.
 */

/** The same limit as in the test of Mann and Kendall. */
const valuesMin = 10
/** Lower bound of LRV as a share of the variance of the differences: an estimate may be 0 or less. */
const varianceShareMin = 0.05

interface Drift {
  /** Infinite for an exact line. */
  readonly t: number
  readonly df: number
  /** Two-sided. */
  readonly pValue: number
}

/** Takes values in order. Null for fewer than ten, and for equal ones. */
export function driftTest(values: Float64Array): Drift | null {
  if (values.length < valuesMin) return null
  const n = values.length - 1
  const mean = ((values[n] as number) - (values[0] as number)) / n
  const steps = Float64Array.from({ length: n }, (_, i) => (values[i + 1] as number) - (values[i] as number) - mean)
  const variance = autocovariance(steps, 0)
  if (mean === 0 && variance === 0) return null
  const lagMax = Math.floor(Math.sqrt(n))
  let longRun = variance
  for (let lag = 1; lag <= lagMax; lag++) longRun += 2 * (1 - lag / (lagMax + 1)) * autocovariance(steps, lag)
  const t = mean / Math.sqrt(Math.max(longRun, varianceShareMin * variance) / n)
  const df = (3 * n) / (lagMax + 1)
  return { t, df, pValue: studentTwoSidedP(t, df) }
}

/** Expects steps with mean 0. */
function autocovariance(steps: Float64Array, lag: number): number {
  let sum = 0
  for (let i = lag; i < steps.length; i++) sum += (steps[i] as number) * (steps[i - lag] as number)
  return sum / steps.length
}

const lags = 30
const rootValuesMin = 5 * lags

/** True where a random walk is rejected. `values`: in order, NaN where missing. */
function returnsToLine(values: Float64Array): boolean {
  const { mean, std } = momentsOf(values)
  if (values.length < rootValuesMin || !(std > 0)) return false
  const level = values.map(value => (value - mean) / std)
  bridgeGaps(level)
  const changes = level.subarray(1).map((value, at) => value - (level[at] as number))
  const count = changes.length - lags
  const terms = [
    new Float64Array(count).fill(1),
    Float64Array.from({ length: count }, (_, at) => (2 * at) / count - 1),
    ...Array.from({ length: lags }, (_, lag) => changes.subarray(lags - 1 - lag, lags - 1 - lag + count)),
  ]
  const change = residualsOf(changes.subarray(lags), terms)
  const before = residualsOf(level.subarray(lags, lags + count), terms)
  const squares = product(before, before)
  const rho = product(change, before) / squares
  const rest = change.map((value, at) => value - rho * (before[at] as number))
  const error = Math.sqrt(product(rest, rest) / (count - terms.length - 1) / squares)
  return rho / error <= criticalValue(count)
}

/** The 1 % point with a constant and a line. */
function criticalValue(count: number): number {
  return -3.95877 - 9.0531 / count - 28.428 / count ** 2
}

function residualsOf(values: Float64Array, terms: readonly Float64Array[]): Float64Array {
  const coefficients = leastSquares(terms, values)
  return values.map((value, at) => {
    return coefficients.reduce((rest, one, term) => rest - one * (terms[term]?.[at] as number), value)
  })
}

function product(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] as number), 0)
}

const lagsMax = 3

interface MannKendall {
  /** Theil–Sen, per unit of the times. */
  readonly slope: number
  /** Kendall's tau, −1 … 1. */
  readonly tau: number
  /** Null when the ranks' autocorrelation leaves no variance: it lasts too long for the test. */
  readonly z: number | null
  /** Two-sided. */
  readonly pValue: number | null
}

/**
 * Values at ascending times, at most a few hundred because of O(n²). Null with fewer than ten values, for which z is
 * not normal, and for equal values.
 */
export function mannKendall(times: Float64Array, values: Float64Array): MannKendall | null {
  const n = values.length
  if (n < 10) return null
  const { score, slopes } = pairsOf(times, values)
  const independent = scoreVariance(values)
  if (!(independent > 0)) return null
  const slope = quantile(slopes, 0.5)
  const tau = score / ((n * (n - 1)) / 2)
  const variance = independent * memoryFactor(values.map((value, i) => value - slope * (times[i] as number)))
  if (!(variance > 0)) return { slope, tau, z: null, pValue: null }
  const z = (score - Math.sign(score)) / Math.sqrt(variance)
  return { slope, tau, z, pValue: erfc(Math.abs(z) / Math.SQRT2) }
}

/** Compares every later value with every earlier one: the surplus of rises over falls, and the slopes. */
function pairsOf(times: Float64Array, values: Float64Array): { score: number; slopes: number[] } {
  let score = 0
  const slopes: number[] = []
  for (let later = 1; later < values.length; later++) {
    for (let earlier = 0; earlier < later; earlier++) {
      const rise = (values[later] as number) - (values[earlier] as number)
      score += Math.sign(rise)
      slopes.push(rise / ((times[later] as number) - (times[earlier] as number)))
    }
  }
  return { score, slopes }
}

/** Variance for independent values, reduced for ties. */
function scoreVariance(values: Float64Array): number {
  const term = (count: number) => count * (count - 1) * (2 * count + 5)
  const sorted = values.slice().sort()
  let ties = 0
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    while (to < sorted.length && sorted[to] === sorted[from]) to++
    ties += term(to - from)
  }
  return (term(values.length) - ties) / 18
}

/**
 * The factor by which the autocorrelation of the values' ranks multiplies the variance; 0 or less when it is undefined.
 */
function memoryFactor(values: Float64Array): number {
  const n = values.length
  const r = rankCorrelations(midRanks(values))
  const bound = normalQuantile975 / Math.sqrt(n)
  let sum = 0
  for (let lag = 1; lag <= lagsMax; lag++) {
    const value = r[lag] as number
    if (Math.abs(value) > bound) sum += (n - lag) * (n - lag - 1) * (n - lag - 2) * value
  }
  return 1 + (2 * sum) / (n * (n - 1) * (n - 2))
}

/** The biased estimator at the first lags, even for few pairs. */
function rankCorrelations(ranks: Float64Array): Float64Array {
  const mean = (ranks.length + 1) / 2
  const centred = ranks.map(rank => rank - mean)
  const products = new Float64Array(lagsMax + 1)
  for (let lag = 0; lag <= lagsMax; lag++) {
    for (let i = lag; i < centred.length; i++) {
      products[lag] = (products[lag] as number) + (centred[i] as number) * (centred[i - lag] as number)
    }
  }
  return products.map(product => product / (products[0] as number))
}
