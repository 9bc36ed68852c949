/**
 * Results read off an autocorrelation: 95 % bands, length of the memory, the strongest repeat, and the lags to show.
 *
 * Half-width of a band at lag k: 1.959963984540054·√(B_k·(N − k)/(N·n_k)), with B = 1 for white noise (what R draws)
 * and B_k = 1 + 2·Σ_{0<j<k} r_j² by Bartlett; on complete data that is the half-width of statsmodels'
 * `bartlett_confint`.
 */

import type { Autocorrelation } from './autocorrelation.ts'
import { normalQuantile975, normalUpperPoint } from './student.ts'

const hourSeconds = 3600
/** The probability of a peak in noise. */
const level = 0.05
/**
 * Largest distance of a repeat from a multiple of a cycle's period, in periods, and the number of multiples that count.
 */
const nearShare = 0.1
const multiplesMax = 7

export interface Bands {
  /** Half-widths by lag in cells, NaN where r is NaN. */
  readonly bartlett: Float64Array
  readonly white: Float64Array
}

export function autocorrelationBands({ cells, r, pairs }: Autocorrelation): Bands {
  const bartlett = new Float64Array(r.length).fill(Number.NaN)
  const white = new Float64Array(r.length).fill(Number.NaN)
  let factor = 1
  for (let lag = 0; lag < r.length; lag++) {
    const value = r[lag] as number
    if (Number.isNaN(value)) continue
    const half = normalQuantile975 * Math.sqrt((cells - lag) / (cells * (pairs[lag] as number)))
    white[lag] = half
    bartlett[lag] = half * Math.sqrt(factor)
    if (lag > 0) factor += 2 * value * value
  }
  return { bartlett, white }
}

/**
 * The lag in cells at which r first falls to 1/e, linear between two lags (lags without r are passed over); null if it
 * never does.
 */
export function decorrelationLag(r: Float64Array): number | null {
  const threshold = 1 / Math.E
  let lastLag = 0
  let last = r[0] as number
  for (let lag = 1; lag < r.length; lag++) {
    const value = r[lag] as number
    if (Number.isNaN(value)) continue
    if (value <= threshold) return lastLag + ((lag - lastLag) * (last - threshold)) / (last - value)
    last = value
    lastLag = lag
  }
  return null
}

export interface Peak {
  /** Lag in cells. */
  readonly lag: number
  readonly r: number
}

/**
 * The highest local maximum above the Bartlett band after r has first fallen into it; the first of equal ones, null
 * without any. From there on r no longer shows the series' own memory. Its first zero would be too late for a series
 * whose level wanders: r then stays positive for days. A lag next to one without r, or at the end of the lags, is not a
 * maximum.
 *
 * `band` has half-widths at 95 %. As hundreds of lags are compared, the maximum has to be above the band of 0.05
 * divided by their number (Bonferroni).
 */
export function autocorrelationPeak(r: Float64Array, band: Float64Array): Peak | null {
  let start = 0
  while (start < r.length && !((r[start] as number) <= (band[start] as number))) start++
  let lags = 0
  for (let lag = start; lag < r.length; lag++) if (!Number.isNaN(r[lag] as number)) lags++
  const widening = normalUpperPoint(level / (2 * Math.max(1, lags))) / normalQuantile975
  let best: Peak | null = null
  for (let lag = start + 1; lag < r.length - 1; lag++) {
    const value = r[lag] as number
    const isMaximum = value > (r[lag - 1] as number) && value >= (r[lag + 1] as number)
    if (isMaximum && value > widening * (band[lag] as number) && value > (best?.r ?? 0)) best = { lag, r: value }
  }
  return best
}

/**
 * The peak as the repeat of a known cycle, where it is within a tenth of a period of one to seven of its periods: noise
 * moves the maximum, while the cycle's period is exact. `periods` are the significant cycles in cells. Of several
 * matches, the one with the fewest periods wins.
 */
export function peakOfCycle(peak: Peak, r: Float64Array, periods: readonly number[]): Peak {
  const multiples = periods.map(period => ({ period, times: Math.round(peak.lag / period) }))
  const fitting = multiples
    .filter(({ times }) => times >= 1 && times <= multiplesMax)
    .filter(({ period, times }) => Math.abs(peak.lag - times * period) <= nearShare * period)
    .sort((a, b) => a.times - b.times)
  const period = fitting[0]?.period
  const value = period === undefined ? Number.NaN : (r[Math.round(period)] ?? Number.NaN)
  return period === undefined || Number.isNaN(value) ? peak : { lag: period, r: value }
}

/**
 * The repeat of the significant cycle with the largest r, even below the band, because the cycle is known. It needs a
 * local maximum above 0 within a tenth of its period. `periods` as in `peakOfCycle`.
 */
export function repeatOfCycles(r: Float64Array, periods: readonly number[]): Peak | null {
  const repeats = periods.flatMap((period): Peak[] => {
    const [from, to] = [Math.floor((1 - nearShare) * period), Math.ceil((1 + nearShare) * period)]
    if (from < 1 || to >= r.length) return []
    let highest = from
    for (let lag = from; lag <= to; lag++) if ((r[lag] as number) > (r[highest] as number)) highest = lag
    const value = r[Math.round(period)] as number
    return highest > from && highest < to && value > 0 ? [{ lag: period, r: value }] : []
  })
  return repeats.reduce<Peak | null>((best, one) => (best === null || one.r > best.r ? one : best), null)
}

/** The largest lag in cells: a week or a third of the series, whichever is less. */
export function autocorrelationLagMax(cells: number, stepSeconds: number): number {
  return Math.floor(Math.min((168 * hourSeconds) / stepSeconds, cells / 3))
}

/**
 * The lags in cells to show: the first hour at the grid's step, then one an hour (or every one, if the step is longer).
 */
export function shownLags(lagMax: number, stepSeconds: number): number[] {
  const stride = Math.max(1, Math.round(hourSeconds / stepSeconds))
  const lags: number[] = []
  for (let lag = 0; lag <= lagMax; lag += lag < stride ? 1 : stride) lags.push(lag)
  return lags
}
