/** Shares, spans and lists in words. */

import { countOf, decimalText, unitsSeconds } from '../../analytics/findings/value-words.ts'

/** Two digits that say something, however small the value is, down to a hundred-thousandth. */
export function twoDigits(value: number): string {
  const decimals = value === 0 ? 0 : 1 - Math.floor(Math.log10(Math.abs(value)))
  return decimalText(value, Math.min(5, Math.max(0, decimals)))
}

/** `62 %`, but `99.4 %` or `0.4 %` near the ends, so that partial values do not look like all or nothing. */
export function percent(share: number): string {
  const value = share * 100
  if (value < 100 && value >= 99.95) return 'more than 99.9\u202f%'
  if (value > 0 && value < 0.05) return 'less than 0.1\u202f%'
  return `${decimalText(value, (value >= 99 && value < 100) || (value > 0 && value < 1) ? 1 : 0)}\u202f%`
}

/** `1 day 3 hours`, rounded to the smaller of two units; of ten or more of a unit to that unit. */
export function duration(seconds: number): string {
  const place = unitsSeconds.findIndex(([length]) => Math.round(seconds) >= length)
  const [length, noun] = unitsSeconds[place] ?? [1, 'second']
  const [restLength, restNoun] = unitsSeconds[place + 1] ?? [1, undefined]
  if (restNoun === undefined || seconds >= 10 * length) return countOf(Math.round(seconds / length), noun)
  const rounded = Math.round(seconds / restLength) * restLength
  const rest = Math.round((rounded % length) / restLength)
  const whole = countOf(Math.floor(rounded / length), noun)
  return rest === 0 ? whole : `${whole} ${countOf(rest, restNoun)}`
}

/** `a, b and c` */
export function listed(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}

export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
