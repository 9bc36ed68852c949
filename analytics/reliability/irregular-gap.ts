/**
 * From which silence on an irregular device has a gap.
 *
 * G = exp(m + z · 1.4826 · MAD), with m the median of the logarithms of the intervals and MAD their median absolute
 * deviation from it: the outlier rule of Leys et al. (Journal of Experimental Social Psychology 49, 2013) on a log
 * scale, since intervals are positive and skewed. Neither median moves with a few outages, as the 99 % quantile does at 50
 * readings a day. z is set for the intervals of a Poisson process without a loss, which are exponential: with 2.42 G is
 * 9.3 mean intervals, which 50 readings a day exceed on one day of 200. Never less than 2.5 medians, the rule of a
 * regular device.
 */

import { median } from '../summary/quantile.ts'
import { gapIntervals, lastOf, withoutRetries } from './interval-estimate.ts'

/** A day has too few intervals for the median deviation, so thirty days count. */
const windowMs = 30 * 86_400_000
/** Makes the median absolute deviation of a normal distribution its standard deviation. */
const normalPerMad = 1.4826
const deviations = 2.42

/** Of ascending times, of which the last thirty days count; they hold at least one interval. */
export function irregularGapMs(timesMs: Float64Array): number {
  const logs = withoutRetries(lastOf(timesMs, windowMs)).map(Math.log)
  const middle = median(logs)
  const mad = median(logs.map(log => Math.abs(log - middle)))
  return Math.max(gapIntervals * Math.exp(middle), Math.exp(middle + deviations * normalPerMad * mad))
}
