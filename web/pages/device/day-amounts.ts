/** The growth of a counter, or the sum of a rate, over a local day: by hour and in words. */

import type { PastDays } from '../../../query/shapes/past.ts'
import { measureDifference, type Quantity } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'
import { pastFiguresOf } from './answers.ts'
import { growthOf } from './kind-series.ts'

export interface HourAmount {
  readonly hour: number
  readonly amount: number
}

export interface DayAmount {
  /** Amounts by hour; hours without a known amount are left out. */
  readonly hours: readonly HourAmount[]
  /** The sum of the hours; null without any. */
  readonly placed: number | null
  /** Growth in gaps that ended in this day. Such a gap may have begun days before. */
  readonly ofGap: number
}

/** Undefined where nothing is known of the day. */
export function amountOfDay({ hours }: PastDays['today'], metric: string): DayAmount | undefined {
  const amounts = hours.flatMap(hour => {
    const figures = pastFiguresOf<'counter' | 'rate'>(hour, metric)
    const growth = figures && growthOf(figures)
    return growth === undefined ? [] : [{ hour: hour.hour, ...growth }]
  })
  if (amounts.length === 0) return undefined
  const placed = amounts.flatMap(({ hour, placed }) => (placed === null ? [] : [{ hour, amount: placed }]))
  return {
    hours: placed,
    placed: placed.length === 0 ? null : placed.reduce((sum, { amount }) => sum + amount, 0),
    ofGap: amounts.reduce((sum, { ofGap }) => sum + ofGap, 0),
  }
}

/** `3.2 mm today, and 80 mm in a gap that ended today`. `phraseOf` makes the first part. */
export function dayAmountText(
  { placed, ofGap }: Pick<DayAmount, 'placed' | 'ofGap'>,
  quantity: Quantity,
  day: 'today' | 'yesterday',
  phraseOf: (amount: string) => string,
): string {
  const ofDay = placed === null ? [] : [phraseOf(measureDifference(placed, quantity))]
  const gap = ofGap === 0 ? [] : [gapText(measureDifference(ofGap, quantity), day)]
  return [...ofDay, ...gap].join(t(', and '))
}

function gapText(amount: string, day: 'today' | 'yesterday'): string {
  return day === 'today'
    ? t('{amount} in a gap that ended today', { amount })
    : t('{amount} in a gap that ended yesterday', { amount })
}

/** `today 3.2 mm; yesterday 1 mm (outlined)`, of a chart of both; empty where nothing is known. */
export function daysAmountText(
  today: DayAmount | undefined,
  yesterday: DayAmount | undefined,
  quantity: Quantity,
): string {
  const ofToday = today && dayAmountText(today, quantity, 'today', amount => t('today {amount}', { amount }))
  const ofYesterday =
    yesterday &&
    dayAmountText(yesterday, quantity, 'yesterday', amount => t('yesterday {amount} (outlined)', { amount }))
  return [ofToday, ofYesterday].filter(text => text !== undefined).join('; ')
}
