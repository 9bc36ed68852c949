/** How two devices differ and go together, in sentences. */

import { closeness, pairReasonSentence } from '../../text/correlation-words.ts'
import { decimalText } from '../../text/numbers.ts'
import { duration } from '../../text/phrases.ts'
import { measureDifference, type Quantity, shownDifference, withUnit } from '../../text/quantities.ts'
import type { Agreement } from './answers.ts'

export interface Compared {
  readonly quantity: Quantity
  /** What the two are called. */
  readonly a: string
  readonly b: string
}

export function agreementSentences(compared: Compared, stats: Agreement): string[] {
  if (stats.bias === null) return [pairReasonSentence('no_data')]
  return [...differenceSentences(compared, stats), ...togetherSentences(compared, stats)]
}

function differenceSentences({ quantity, a, b }: Compared, { bias, limits_of_agreement }: Agreement): string[] {
  if (bias === null) return []
  const size = measureDifference(Math.abs(bias), quantity)
  const isNone = Number(shownDifference(Math.abs(bias), quantity).toFixed(quantity.decimals)) === 0
  const mean = isNone
    ? `${a} and ${b} read the same on average.`
    : `${a} reads ${size} ${bias > 0 ? 'more' : 'less'} than ${b} on average.`
  if (limits_of_agreement === null) return [mean]
  const [low = '', high = ''] = limits_of_agreement.map(limit =>
    decimalText(shownDifference(limit, quantity), quantity.decimals),
  )
  return [mean, `About 95\u202f% of the hourly differences lie between ${low} and ${withUnit(high, quantity)}.`]
}

function togetherSentences({ a, b }: Compared, { pearson, p_value, lag_seconds, reason }: Agreement): string[] {
  if (pearson === null) return [pairReasonSentence(reason)]
  const r = `correlation ${decimalText(pearson, 2)}`
  if (p_value === null || p_value > 0.05) return [`They go together no more than chance would have it (${r}).`]
  const how =
    pearson < 0 ? `move against each other, ${closeness(pearson)}` : `rise and fall together ${closeness(pearson)}`
  return [`The two ${how} (${r}).`, ...lagSentences(a, b, lag_seconds)]
}

function lagSentences(a: string, b: string, lagSeconds: number | null): string[] {
  if (lagSeconds === null) return []
  if (lagSeconds === 0) return ['Neither follows the other: they change in the same hour.']
  const [first, second] = lagSeconds > 0 ? [a, b] : [b, a]
  return [`${second} follows ${first} by ${duration(Math.abs(lagSeconds))}.`]
}
