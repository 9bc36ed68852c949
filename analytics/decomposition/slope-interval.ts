/**
 * The 95 % interval of a least-squares slope of autocorrelated values. Independent values would make it several times
 * too narrow: hours of AR(1) 0.95 count for a fortieth of their number.
 *
 * The noise is taken for an ARMA(1,1), which an average over an hour of a process with one memory is: ρ_k = ρ₁·φ^(k−1)
 * with φ = ρ₂/ρ₁ (Foster and Rahmstorf, Environmental Research Letters 6 (2011) 044022). The variance of the slope is
 * γ₀·(1 + 2·Σ ρ_k·w_k)/Σ(t − t̄)², w_k being the autocorrelation of the times themselves, and Student's t has n_eff − 2
 * degrees of freedom, n_eff = n/(1 + 2·Σ ρ_k) (Santer et al., Journal of Geophysical Research 105 (2000) 7337). Line
 * and mean take 2·γ₀/n_eff out of every autocovariance; that is put back.
 */

import { studentQuantile975 } from '../correlation/student.ts'

const rounds = 5
/** With a longer memory a series has too little information about its slope. */
const decayMax = 0.9999
/** Smaller correlations do not change significant digits. */
const correlationMin = 1e-6
const nEffectiveMin = 3
/** An autocorrelation below 2/√n is noise, so its second lag has no information about its decay. */
const noiseDeviations = 2

export interface SlopeInterval {
  readonly nEffective: number
  /** Half of the interval, in the unit of the values per cell. */
  readonly halfWidth: number
}

/** `residual`: the cells minus their line, NaN where missing. Null when fewer than three of them are independent. */
export function slopeInterval(residual: Float64Array): SlopeInterval | null {
  const cells = residual.length
  const [variance, first, second] = [0, 1, 2].map(lag => autocovariance(residual, lag)) as [number, number, number]
  const { observed, squares } = timesOf(residual)
  if (!(variance > 0) || Number.isNaN(first) || Number.isNaN(second)) return null
  const coverage = observed / cells
  let taken = 0
  let noise = noiseOf(first / variance, second / variance, observed)
  let inflation = 1
  for (let round = 0; round < rounds; round++) {
    inflation = 1 + 2 * coverage * noise.sum
    if (observed / inflation < nEffectiveMin) return null
    taken = (2 * inflation) / observed
    noise = noiseOf((first / variance + taken) / (1 + taken), (second / variance + taken) / (1 + taken), observed)
  }
  const nEffective = observed / (1 + 2 * coverage * noise.sum)
  if (!(nEffective > nEffectiveMin)) return null
  const ofTimes = 1 + 2 * coverage * weightedSum(noise, cells)
  const deviation = Math.sqrt((variance * (1 + taken) * Math.max(ofTimes, 0)) / squares)
  return { nEffective, halfWidth: studentQuantile975(nEffective - 2) * deviation }
}

/** ρ₁, φ and Σ ρ_k over all lags from 1 on. */
interface Noise {
  readonly first: number
  readonly decay: number
  readonly sum: number
}

function noiseOf(first: number, second: number, observed: number): Noise {
  // A negative memory would only narrow the interval.
  if (first <= 0) return { first: 0, decay: 0, sum: 0 }
  const isNoise = first < noiseDeviations / Math.sqrt(observed)
  // A faster cycle alternates between the hours, and no memory grows: the second lag has the slow part.
  if (!isNoise && second > first) return memoryOf(Math.min(decayMax, Math.sqrt(second)))
  const decay = Math.min(decayMax, Math.max(0, isNoise ? first : second / first))
  return { first, decay, sum: first / (1 - decay) }
}

function memoryOf(decay: number): Noise {
  return { first: decay, decay, sum: decay / (1 - decay) }
}

/** Σ ρ_k·w_k, w_k = Σ (t − t̄)(t + k − t̄)/Σ (t − t̄)² over a complete row of cells. */
function weightedSum({ first, decay }: Noise, cells: number): number {
  const middle = (cells - 1) / 2
  const squares = (cells * (cells * cells - 1)) / 12
  let sum = 0
  let correlation = first
  for (let lag = 1; lag < cells && correlation > correlationMin; lag++) {
    const last = cells - lag
    const times = (last * (last - 1)) / 2 - last * middle
    const timesSquared = ((last - 1) * last * (2 * last - 1)) / 6 - middle * last * (last - 1) + last * middle * middle
    sum += (correlation * (timesSquared + lag * times)) / squares
    correlation *= decay
  }
  return sum
}

/** The mean product of cells `lag` apart. Their mean is 0. */
function autocovariance(residual: Float64Array, lag: number): number {
  let sum = 0
  let pairs = 0
  for (let i = lag; i < residual.length; i++) {
    const product = (residual[i] as number) * (residual[i - lag] as number)
    if (Number.isNaN(product)) continue
    sum += product
    pairs++
  }
  return sum / pairs
}

/** The number of observed cells, and their Σ (t − t̄)². */
function timesOf(residual: Float64Array): { observed: number; squares: number } {
  let observed = 0
  let mean = 0
  let squares = 0
  for (let i = 0; i < residual.length; i++) {
    if (Number.isNaN(residual[i] as number)) continue
    const distance = i - mean
    observed++
    mean += distance / observed
    squares += distance * (i - mean)
  }
  return { observed, squares }
}
