/** Differences and correlation of two devices in sentences. */

import { decimalText, pointsText } from '../../text/numbers.ts'
import { closeness, duration, isSameWay, percent } from '../../text/phrases.ts'
import { measureDifference, type Quantity, shownDifference, withUnit } from '../../text/quantities.ts'
import { reasonSentence } from '../../text/reason-words.ts'
import { t } from '../../words/words.ts'
import type { Agreement, ComparedDirection, ComparedState } from './answers.ts'

export interface Compared {
  readonly quantity: Quantity
  /** The names of both devices. */
  readonly a: string
  readonly b: string
}

export function agreementSentences(compared: Compared, stats: Agreement): string[] {
  if (stats.bias === null) return [reasonSentence('no_data')]
  return [...differenceSentences(compared, stats), ...togetherSentences(compared, stats)]
}

function differenceSentences(compared: Compared, { bias, limits_of_agreement }: Agreement): string[] {
  const { quantity } = compared
  if (bias === null) return []
  const mean = meanSentence(compared, bias)
  if (limits_of_agreement === null) return [mean]
  const [low = '', high = ''] = limits_of_agreement.map(limit =>
    decimalText(shownDifference(limit, quantity), quantity.decimals),
  )
  const highest = quantity.unit === '%' ? pointsText(high) : withUnit(high, quantity)
  return [mean, t('About 95\u202f% of the hourly differences lie between {low} and {highest}.', { low, highest })]
}

function meanSentence({ quantity, a, b }: Compared, bias: number): string {
  const isOfHours = quantity.kind === 'counter' || quantity.kind === 'rate'
  if (isNothing(bias, quantity)) {
    return isOfHours
      ? t('{a} and {b} have the same on average.', { a, b })
      : t('{a} and {b} read the same on average.', { a, b })
  }
  const size = measureDifference(Math.abs(bias), quantity)
  const apart = apartText(size, bias > 0, quantity.unit === '%')
  return isOfHours
    ? t('{a} has {apart} an hour than {b} on average.', { a, apart, b })
    : t('{a} reads {apart} than {b} on average.', { a, apart, b })
}

function apartText(size: string, isMore: boolean, isShare: boolean): string {
  if (isShare) return isMore ? t('{size} higher', { size }) : t('{size} lower', { size })
  return isMore ? t('{size} more', { size }) : t('{size} less', { size })
}

function isNothing(difference: number, quantity: Quantity): boolean {
  return Number(shownDifference(Math.abs(difference), quantity).toFixed(quantity.decimals)) === 0
}

function togetherSentences({ a, b }: Compared, stats: Agreement): string[] {
  const { pearson, p_value, verdict, lag_seconds, lag_r, reason } = stats
  if (pearson === null) return [reasonSentence(reason)]
  const r = t('correlation {r}', { r: decimalText(pearson, 2) })
  if (verdict === null) return [t('It needs more hours to say whether they go together ({r}).', { r })]
  const areOpposite = pearson < 0 && p_value !== null && p_value <= 0.05
  if (verdict === 'no_link' && !areOpposite) return [t('No clear link ({r}).', { r })]
  const how = closeness(pearson)
  const sentence = areOpposite
    ? t('The two move against each other {how} ({r}).', { how, r })
    : t('The two rise and fall together {how} ({r}).', { how, r })
  return [sentence, ...(isSameWay(pearson, lag_r) ? lagSentences(a, b, lag_seconds) : [])]
}

function lagSentences(a: string, b: string, lagSeconds: number | null): string[] {
  if (lagSeconds === null) return []
  if (lagSeconds === 0) return [t('Neither follows the other: they change in the same hour.')]
  const [first, second] = lagSeconds > 0 ? [a, b] : [b, a]
  return [t('{second} follows {first} by {duration}.', { second, first, duration: duration(Math.abs(lagSeconds)) })]
}

/** Differences of directions go by the shorter way. */
export function directionSentences(
  { quantity, a, b }: Compared,
  { n, bias, mae }: ComparedDirection['stats'],
): string[] {
  if (n === 0 || mae === null) return [reasonSentence('no_data')]
  const apart = t('The hourly directions are {angle} apart on average.', {
    angle: measureDifference(mae, quantity),
  })
  if (bias === null) return [t('The differences go all ways alike.'), apart]
  if (isNothing(bias, quantity)) return [t('{a} and {b} point the same way on average.', { a, b }), apart]
  const turn = measureDifference(Math.abs(bias), quantity)
  return [
    bias > 0
      ? t('{a} points {turn} clockwise of {b} on average.', { a, turn, b })
      : t('{a} points {turn} anticlockwise of {b} on average.', { a, turn, b }),
    apart,
  ]
}

export function stateSentences({ known_seconds, same_share }: ComparedState['stats']): string[] {
  if (same_share === null) return [t('There is no time in which the states of both are known.')]
  return [
    t('Both were in the same state {share} of the {duration} in which both are known.', {
      share: percent(same_share),
      duration: duration(known_seconds),
    }),
  ]
}
