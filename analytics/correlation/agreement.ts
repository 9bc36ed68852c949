/**
 * How well two instruments agree, cell by cell: Bland and Altman's bias with limits of agreement (1986), errors,
 * correlation, the orthogonal line of b on a, and by how much b follows a. Everything is taken from the stretch from the
 * first to the last cell that both could have measured: what one of them saw before the other existed says nothing of the two.
 */

import { orNull } from '../or-null.ts'
import type { PairReason } from '../reasons.ts'
import { momentsOf } from '../summary/moments.ts'
import { seriesTransform } from './block-spectra.ts'
import { correlation, correlationSeries } from './correlation.ts'
import { significantLag } from './lag.ts'
import { type Line, orthogonalLine } from './orthogonal-line.ts'

const lagMaxMs = 24 * 3_600_000
/** As the limits are published; a normal distribution has 95 % between them. */
const limitSpreads = 1.96

/**
 * Null stands for what does not exist. `reason` says why there is no correlation, and then nothing that builds on it; or why
 * there is no lag.
 */
export interface Agreement {
  /** Cells in which both have a value. */
  readonly n: number
  /** The mean of a − b, and its sample standard deviation. */
  readonly bias: number | null
  readonly sd_diff: number | null
  readonly mae: number | null
  readonly rmse: number | null
  readonly pearson: number | null
  readonly n_eff: number | null
  readonly p_value: number | null
  readonly spearman: number | null
  readonly limits_of_agreement: readonly [number, number] | null
  readonly slope: number | null
  readonly intercept: number | null
  /** Positive when b follows a. */
  readonly lag_seconds: number | null
  readonly lag_r: number | null
  readonly reason: PairReason | null
}

/** Cells of `stepMs` in order, as many of both; NaN where missing. */
export function agreementOf(aCells: Float64Array, bCells: Float64Array, stepMs: number): Agreement {
  const [from, to] = commonStretch(aCells, bCells)
  const a = aCells.subarray(from, to)
  const b = bCells.subarray(from, to)
  const { n, pearson, nEffective, pValue, spearman, reason } = correlation(correlationSeries(a), correlationSeries(b))
  const { bias, sd_diff, ...errors } = differencesOf(a, b)
  const relation = reason === null ? relationOf(a, b, stepMs, nEffective) : noRelation
  const hasLimits = bias !== null && sd_diff !== null
  return {
    n,
    bias,
    sd_diff,
    ...errors,
    pearson,
    n_eff: nEffective,
    p_value: pValue,
    spearman,
    limits_of_agreement: hasLimits ? [bias - limitSpreads * sd_diff, bias + limitSpreads * sd_diff] : null,
    ...relation,
    reason: n === 0 ? 'no_data' : (reason ?? (relation.lag_seconds === null ? 'lag_not_significant' : null)),
  }
}

/** [from, to) from the later first value to the earlier last one; not ascending when the two never met. */
function commonStretch(a: Float64Array, b: Float64Array): [from: number, to: number] {
  const isPresent = (value: number) => !Number.isNaN(value)
  const from = Math.max(0, a.findIndex(isPresent), b.findIndex(isPresent))
  const to = Math.min(a.findLastIndex(isPresent), b.findLastIndex(isPresent)) + 1
  return [from, to]
}

function differencesOf(a: Float64Array, b: Float64Array): Pick<Agreement, 'bias' | 'sd_diff' | 'mae' | 'rmse'> {
  const differences = a.map((value, i) => value - (b[i] as number))
  const { mean, std } = momentsOf(differences)
  const meanSquare = momentsOf(differences.map(difference => difference ** 2)).mean
  return {
    bias: orNull(mean),
    sd_diff: orNull(std),
    mae: orNull(momentsOf(differences.map(Math.abs)).mean),
    rmse: orNull(Math.sqrt(meanSquare)),
  }
}

type Relation = Pick<Agreement, 'slope' | 'intercept' | 'lag_seconds' | 'lag_r'>

const noRelation: Relation = { slope: null, intercept: null, lag_seconds: null, lag_r: null }

function relationOf(a: Float64Array, b: Float64Array, stepMs: number, nEffective: number | null): Relation {
  const { slope, intercept }: Line | typeof noRelation = orthogonalLine(a, b) ?? noRelation
  const lagMax = Math.floor(lagMaxMs / stepMs)
  const aTransform = seriesTransform(a, lagMax)
  const bTransform = seriesTransform(b, lagMax, [aTransform])
  if (aTransform === undefined || bTransform === undefined) return { ...noRelation, slope, intercept }
  const found = significantLag(aTransform, bTransform, nEffective)
  return { slope, intercept, lag_seconds: found && (found.lag * stepMs) / 1000, lag_r: found?.r ?? null }
}
