/** Counts, shares, spans, intervals, correlations and lists in words. Numbers with units are in `quantities.ts`. */

import { t, tn } from '../words/words.ts'
import { decimalText, unitsSeconds } from './numbers.ts'

/** Two digits that say something, however small the value is, down to a hundred-thousandth. */
export function twoDigits(value: number): string {
  const decimals = value === 0 ? 0 : 1 - Math.floor(Math.log10(Math.abs(value)))
  return decimalText(value, Math.min(5, Math.max(0, decimals)))
}

/** `62 %`, but `99.4 %` or `0.4 %` near the ends, so that partial values do not look like all or nothing. */
export function percent(share: number): string {
  const value = share * 100
  if (value < 100 && value >= 99.95) return t('more than {share}', { share: `${decimalText(99.9, 1)}\u202f%` })
  if (value > 0 && value < 0.05) return t('less than {share}', { share: `${decimalText(0.1, 1)}\u202f%` })
  return `${decimalText(value, (value >= 99 && value < 100) || (value > 0 && value < 1) ? 1 : 0)}\u202f%`
}

const secondOnly = unitsSeconds[3] as (typeof unitsSeconds)[number]

/** `1 day 3 hours`, rounded to the smaller of two units; of ten or more of a unit to that unit. */
export function duration(seconds: number): string {
  const place = unitsSeconds.findIndex(([length]) => Math.round(seconds) >= length)
  const [length, text] = unitsSeconds[place] ?? secondOnly
  const [restLength, restText] = unitsSeconds[place + 1] ?? [1, undefined]
  if (restText === undefined || seconds >= 10 * length) return text(Math.round(seconds / length))
  const rounded = Math.round(seconds / restLength) * restLength
  const rest = Math.round((rounded % length) / restLength)
  const whole = text(Math.floor(rounded / length))
  return rest === 0 ? whole : `${whole} ${restText(rest)}`
}

/** `a, b and c` */
export function listed(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join('')
  return t('{list} and {last}', { list: texts.slice(0, -1).join(', '), last: texts.at(-1) as string })
}

export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Replaces a missing value. */
export const noValue = '–'

export function timesText(count: number): string {
  return count === 1 ? t('once') : tn(count, '{count} time', '{count} times')
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

/** Cohen's 0.1, 0.3 and 0.5 are for people; two sensors of one thing agree far better than that. */
export function closeness(r: number): string {
  const size = Math.abs(r)
  if (size >= 0.95) return t('very closely')
  if (size >= 0.7) return t('closely')
  return size >= 0.3 ? t('loosely') : t('hardly')
}

/** A metric that moves the opposite way some hours later does not follow. */
export function isSameWay(r: number, lagR: number | null): boolean {
  return lagR !== null && Math.sign(lagR) === Math.sign(r)
}
