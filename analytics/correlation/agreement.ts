/**
 * Agreement of two instruments, cell by cell: Bland and Altman's bias with limits of agreement (1986), errors,
 * correlation, the orthogonal line of b on a, and the lag of b behind a. Only the stretch from the first to the last
 * cell that both could have measured counts.
 *
 * The test uses their changes over three hours, up to three hours apart, without the mean day. Values of successive
 * hours are dependent, so a week of two thermometers counts as a few independent hours. Their changes are nearly
 * independent. Below three days a mean day does not exist, and the correlation is tested instead.
 *
 * Two instruments of one quantity need no test: where their differences have 2 % or less of the variance of both, they
 * go together, however few cells are independent. The limit is a coefficient of additivity 2·s_ab/(s_a² + s_b²) of 0.98
 * (Zegers and ten Berge, Psychometrika 50 (1985) 17).
 */

import { orNull } from '../present.ts'
import type { PairReason } from '../reasons.ts'
import { momentsOf } from '../summary/moments.ts'
import type { GridFrame } from '../time/grid.ts'
import type { LocalTime } from '../time/local-time.ts'
import { createBeyondDay, effectiveCountBeyondDay } from './beyond-day.ts'
import { type SeriesTransform, seriesTransform } from './block-spectra.ts'
import { centredProducts } from './centred-products.ts'
import { type Correlation, correlation, correlationP, correlationSeries } from './correlation.ts'
import { alignedLag, correlationAt, type Lag, significantLag } from './lag.ts'

const lagMaxMs = 24 * 3_600_000
const additivityMin = 0.98
const level = 0.05
const changeMs = 3 * 3_600_000
const changeLevel = 0.001
const independentMin = 5
/** The published factor; 95 % of a normal distribution lie between the limits. */
const limitSpreads = 1.96

/** `together`: a rising a goes with a rising b. */
type AgreementVerdict = 'together' | 'no_link'

/** Null stands for missing figures. `reason` explains a missing correlation, verdict or lag. */
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
  readonly verdict: AgreementVerdict | null
  readonly reason: PairReason | null
}

/** Cells in order, equally many of both; NaN where missing. `local` is the clock of their days. */
export function agreementOf(
  aCells: Float64Array,
  bCells: Float64Array,
  { startMs, stepMs }: Pick<GridFrame, 'startMs' | 'stepMs'>,
  local: Pick<LocalTime, 'offsetMs'>,
): Agreement {
  const [from, to] = commonStretch(aCells, bCells)
  const a = aCells.subarray(from, to)
  const b = bCells.subarray(from, to)
  const frame = { startMs: startMs + from * stepMs, stepMs, cells: a.length }
  const correlated = correlation(correlationSeries(a), correlationSeries(b))
  const { n, pearson, nEffective, pValue, spearman } = correlated
  const { bias, sd_diff, ...errors } = differencesOf(a, b)
  const areAlike = pearson !== null && additivity(a, b) >= additivityMin
  const compared = { n, frame, local }
  const verdict = areAlike ? 'together' : pearson === null ? null : verdictOf(a, b, compared, correlated)
  const lag = pearson === null ? null : areAlike ? lagOfAlike(a, b, frame) : verdict && lagOf(a, b, compared)
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
    ...(pearson === null ? noLine : (orthogonalLine(a, b) ?? noLine)),
    lag_seconds: lag && (lag.lag * stepMs) / 1000,
    lag_r: lag?.r ?? null,
    verdict,
    reason: reasonOf(correlated, verdict, lag),
  }
}

function verdictOf(
  a: Float64Array,
  b: Float64Array,
  { frame, local }: Compared,
  { pearson, pValue }: Correlation,
): AgreementVerdict | null {
  const { days, rest } = createBeyondDay(frame, local)
  const [x, y] = [a, b].map(values => changesOf(rest(values), frame.stepMs)) as [Float64Array?, Float64Array?]
  if (x === undefined || y === undefined) {
    return pearson === null || pValue === null ? null : pearson > 0 && pValue <= level ? 'together' : 'no_link'
  }
  const reach = changeCells(frame.stepMs)
  const lags = Array.from({ length: 2 * reach + 1 }, (_, at) => at - reach)
  const found = lags.flatMap(lag => {
    const { r, pairs } = correlationAt(x, y, lag)
    const nEffective = effectiveCountBeyondDay(pairs, x, y, days)
    return r === null || nEffective === null || nEffective < independentMin ? [] : [{ r, nEffective }]
  })
  if (found.length === 0) return null
  const levelOfLag = changeLevel / lags.length
  return found.some(({ r, nEffective }) => r > 0 && (correlationP(r, nEffective) ?? 1) <= levelOfLag)
    ? 'together'
    : 'no_link'
}

const changeCells = (stepMs: number) => Math.max(1, Math.round(changeMs / stepMs))

/** Change of each cell since three hours before. */
function changesOf(values: Float64Array | undefined, stepMs: number): Float64Array | undefined {
  const cells = changeCells(stepMs)
  return values?.subarray(cells).map((value, place) => value - (values[place] as number))
}

function reasonOf({ n, reason }: Correlation, verdict: AgreementVerdict | null, lag: Lag | null): PairReason | null {
  if (n === 0) return 'no_data'
  if (verdict === null) return reason ?? 'too_few_independent'
  return lag === null ? 'lag_not_significant' : null
}

/** 1 for series that differ by at most a constant. */
function additivity(a: Float64Array, b: Float64Array): number {
  const { xx, yy, xy } = centredProducts(a, b)
  return (2 * xy) / (xx + yy)
}

/** [from, to) from the later first value to the earlier last one; not ascending without an overlap. */
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

const noLine = { slope: null, intercept: null }

function lagOfAlike(a: Float64Array, b: Float64Array, { stepMs }: GridFrame): Lag | null {
  const transforms = transformsOf(a, b, stepMs)
  return transforms && alignedLag(...transforms)
}

interface Compared {
  /** Cells with both values. */
  readonly n: number
  readonly frame: GridFrame
  readonly local: Pick<LocalTime, 'offsetMs'>
}

function lagOf(a: Float64Array, b: Float64Array, { n, frame, local }: Compared): Lag | null {
  const { days, rest } = createBeyondDay(frame, local)
  const [aRest, bRest] = [rest(a), rest(b)]
  if (aRest === undefined || bRest === undefined) return null
  const transforms = transformsOf(aRest, bRest, frame.stepMs)
  return transforms && significantLag(...transforms, effectiveCountBeyondDay(n, aRest, bRest, days), [a, b])
}

/** Null where one of the two does not vary. */
function transformsOf(a: Float64Array, b: Float64Array, stepMs: number): [SeriesTransform, SeriesTransform] | null {
  const lagMax = Math.floor(lagMaxMs / stepMs)
  const ofA = seriesTransform(a, lagMax)
  const ofB = seriesTransform(b, lagMax, [ofA])
  return ofA === undefined || ofB === undefined ? null : [ofA, ofB]
}

/**
 * The line through pairs with equal errors on both sides: orthogonal regression, Deming's with a ratio of errors of 1.
 * It minimizes the squared distances at right angles to the line, so that exchanging x and y gives its inverse. numpy:
 * the eigenvector of `cov(x, y)` with the larger eigenvalue.
 */

interface Line {
  readonly slope: number
  readonly intercept: number
}

/**
 * Uses the indexes at which neither is missing (NaN). Null without a direction: fewer than two different pairs, a round
 * cloud of them, or a vertical line.
 */
export function orthogonalLine(x: Float64Array, y: Float64Array): Line | null {
  const { xMean, yMean, xx, yy, xy } = centredProducts(x, y)
  const root = Math.hypot(xx - yy, 2 * xy)
  // Two forms of one fraction: each is exact where the other one's difference cancels.
  const slope = xx >= yy ? (2 * xy) / (xx - yy + root) : (yy - xx + root) / (2 * xy)
  return Number.isFinite(slope) ? { slope, intercept: yMean - slope * xMean } : null
}
