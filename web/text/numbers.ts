/** Numbers as people read them. With their units they are in `quantities.ts`. */

import { countOf, decimalText } from '../../analytics/findings/value-words.ts'

/** Replaces a missing value. */
export const noValue = '–'

export function timesText(count: number): string {
  return count === 1 ? 'once' : countOf(count, 'time')
}

const intervalDecimalsMax = 6

/**
 * Both ends of an interval, and the estimate that it is of: with as many decimals as give the distance of the ends two digits,
 * and more while the ends would read the same. Rounded more than they are, an estimate might lie beyond them.
 */
export function intervalTexts(low: number, high: number, estimate: number): [string, string, string] {
  const width = high - low
  let decimals = width > 0 ? Math.min(intervalDecimalsMax, Math.max(0, 1 - Math.floor(Math.log10(width)))) : 2
  while (width > 0 && decimals < 15 && decimalText(low, decimals) === decimalText(high, decimals)) decimals++
  return [decimalText(low, decimals), decimalText(high, decimals), decimalText(estimate, decimals)]
}
