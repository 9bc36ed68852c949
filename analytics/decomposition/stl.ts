/**
 * STL: a series as seasonal + trend + remainder, by loess. Plain: 5 passes. Robust: 2 passes, and 15 times 2 more in
 * which values far from the last fit weigh less (bisquare of |remainder| / (6 · median|remainder|)).
 *
 * The same numbers as `statsmodels.tsa.seasonal.STL(x, period, seasonal, trend, low_pass, robust=…).fit()` with its
 * defaults of degree 1 and jump 1. Over three seasons the robust fit may run through two of them exactly; its weights
 * are then made of rounding errors, and two programs agree to some 1e-8 of the range instead of 1e-12. Source:
 * Cleveland and others, Journal of Official Statistics 6 (1990).
 */

import { quantilesInPlace } from '../summary/quantile.ts'
import { type LoessPlan, loess, loessAtEnd, planLoess } from './loess.ts'

export interface StlOptions {
  /** Values per season. */
  readonly period: number
  /** Loess windows, odd, in values: for one phase over the seasons, for the trend, and for the filter in between. */
  readonly seasonal: number
  readonly trend: number
  readonly lowPass: number
  readonly robust: boolean
}

/** The three components are in the unit of the series and add up to it. */
export interface Stl {
  readonly seasonal: Float64Array
  readonly trend: Float64Array
  readonly remainder: Float64Array
}

/** Hourly values: a day, with the windows of feasts and statsmodels' MSTL, and a week. */
export const dailyStl: StlOptions = { period: 24, seasonal: 11, trend: 43, lowPass: 25, robust: true }
export const weeklyStl: StlOptions = { period: 168, seasonal: 15, trend: 281, lowPass: 169, robust: true }

interface Workspace {
  readonly longPhase: LoessPlan
  readonly shortPhase: LoessPlan
  readonly lowPassPlan: LoessPlan
  readonly trendPlan: LoessPlan
  /** One phase of the season, its weights and its fits with one position more at either end. */
  readonly phase: Float64Array
  readonly phaseWeights: Float64Array
  readonly phaseFits: Float64Array
  /** Smoothed phases, one season longer than the series at either end. */
  readonly cycle: Float64Array
  readonly averages: Float64Array
  readonly averagesAgain: Float64Array
  /** The series minus one of its parts. */
  readonly rest: Float64Array
  readonly lowPass: Float64Array
}

/**
 * Decomposes a complete series (no NaN) of at least two seasons; throws a RangeError when it is shorter. `scaleMin` is
 * the lower bound of the median |remainder| behind the weights; smaller ones are the sensor's rounding.
 */
export function decompose(values: Float64Array, options: StlOptions, scaleMin = 0): Stl {
  const { length } = values
  if (length < 2 * options.period)
    throw new RangeError(`${length} values are fewer than two seasons of ${options.period}`)
  const work = workspaceFor(length, options)
  const seasonal = new Float64Array(length)
  const trend = new Float64Array(length)
  const remainder = new Float64Array(length)
  const weights = options.robust ? new Float64Array(length) : null
  const rounds = options.robust ? 16 : 1
  const passes = options.robust ? 2 : 5
  for (let round = 0; round < rounds; round++) {
    const roundWeights = round === 0 ? null : weights
    for (let pass = 0; pass < passes; pass++) improve(values, roundWeights, options.period, work, seasonal, trend)
    for (let i = 0; i < length; i++)
      remainder[i] = (values[i] as number) - (seasonal[i] as number) - (trend[i] as number)
    if (weights !== null && round < rounds - 1) updateWeights(remainder, weights, work.rest, scaleMin)
  }
  return { seasonal, trend, remainder }
}

/**
 * The last workspace for these options: the metrics of a device are equally long, and planning is a fifth of the work.
 */
const workspaces = new WeakMap<StlOptions, { readonly length: number; readonly work: Workspace }>()

function workspaceFor(length: number, options: StlOptions): Workspace {
  const known = workspaces.get(options)
  if (known?.length === length) return known.work
  const work = createWorkspace(length, options)
  workspaces.set(options, { length, work })
  return work
}

function createWorkspace(length: number, { period, seasonal, trend, lowPass }: StlOptions): Workspace {
  const seasons = Math.ceil(length / period)
  return {
    longPhase: planLoess(seasons, seasonal),
    shortPhase: planLoess(Math.floor(length / period), seasonal),
    lowPassPlan: planLoess(length, lowPass),
    trendPlan: planLoess(length, trend),
    phase: new Float64Array(seasons),
    phaseWeights: new Float64Array(seasons),
    phaseFits: new Float64Array(seasons + 2),
    cycle: new Float64Array(length + 2 * period),
    averages: new Float64Array(length + 2 * period),
    averagesAgain: new Float64Array(length + 2 * period),
    rest: new Float64Array(length),
    lowPass: new Float64Array(length),
  }
}

/** One pass of the inner loop: a better seasonal from the trend so far, and a better trend from that. */
function improve(
  values: Float64Array,
  weights: Float64Array | null,
  period: number,
  work: Workspace,
  seasonal: Float64Array,
  trend: Float64Array,
): void {
  const { rest, cycle, averages, averagesAgain, lowPass } = work
  const { length } = values
  for (let i = 0; i < length; i++) rest[i] = (values[i] as number) - (trend[i] as number)
  for (let phase = 0; phase < period; phase++) smoothPhase(weights, period, phase, work)
  movingAverage(cycle, cycle.length, period, averages)
  movingAverage(averages, length + period + 1, period, averagesAgain)
  movingAverage(averagesAgain, length + 2, 3, averages)
  loess(work.lowPassPlan, averages, null, lowPass)
  for (let i = 0; i < length; i++) {
    const level = (cycle[period + i] as number) - (lowPass[i] as number)
    seasonal[i] = level
    rest[i] = (values[i] as number) - level
  }
  loess(work.trendPlan, rest, weights, trend)
}

/**
 * Smooths the values of one phase, such as all 14 o'clocks, over the seasons, and continues them by one season either
 * way.
 */
function smoothPhase(weights: Float64Array | null, period: number, first: number, work: Workspace): void {
  const { rest, phase, phaseFits, cycle } = work
  const seasons = Math.floor((rest.length - 1 - first) / period) + 1
  const plan = seasons === work.longPhase.length ? work.longPhase : work.shortPhase
  for (let season = 0; season < seasons; season++) phase[season] = rest[season * period + first] as number
  let phaseWeights: Float64Array | null = null
  if (weights !== null) {
    phaseWeights = work.phaseWeights
    for (let season = 0; season < seasons; season++) phaseWeights[season] = weights[season * period + first] as number
  }
  loess(plan, phase, phaseWeights, phaseFits)
  const before = loessAtEnd(plan, phase, phaseWeights, -1)
  const after = loessAtEnd(plan, phase, phaseWeights, seasons)
  cycle[first] = Number.isNaN(before) ? (phaseFits[0] as number) : before
  for (let season = 0; season < seasons; season++) cycle[(season + 1) * period + first] = phaseFits[season] as number
  cycle[(seasons + 1) * period + first] = Number.isNaN(after) ? (phaseFits[seasons - 1] as number) : after
}

/** Means of `window` neighbours: `length − window + 1` of them. */
function movingAverage(values: Float64Array, length: number, window: number, out: Float64Array): void {
  let sum = 0
  for (let i = 0; i < window; i++) sum += values[i] as number
  out[0] = sum / window
  for (let i = window; i < length; i++) {
    sum += (values[i] as number) - (values[i - window] as number)
    out[i - window + 1] = sum / window
  }
}

function updateWeights(remainder: Float64Array, weights: Float64Array, scratch: Float64Array, scaleMin: number): void {
  const { length } = remainder
  for (let i = 0; i < length; i++) scratch[i] = Math.abs(remainder[i] as number)
  const sixMad = 6 * Math.max(scaleMin, quantilesInPlace(scratch, [0.5])[0] as number)
  if (sixMad === 0) {
    weights.fill(1)
    return
  }
  for (let i = 0; i < length; i++) {
    const size = Math.abs(remainder[i] as number)
    if (size <= 0.001 * sixMad) weights[i] = 1
    else weights[i] = size <= 0.999 * sixMad ? (1 - (size / sixMad) ** 2) ** 2 : 0
  }
}
