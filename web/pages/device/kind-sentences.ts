/** Figures of counters, directions, states and rates over a window in sentences. */

import type { WindowFigures } from '../../../query/shapes/kinds.ts'
import type { PastDays } from '../../../query/shapes/past.ts'
import { compassPoints, directionText, isSwitch, stateInWords } from '../../text/kind-words.ts'
import { decimalText } from '../../text/numbers.ts'
import { capitalised, duration, listed, percent } from '../../text/phrases.ts'
import { measure, measureDifference, nameWithin, type Quantity } from '../../text/quantities.ts'
import { hourText, localMinuteText } from '../../text/times.ts'
import { t, tn } from '../../words/words.ts'
import type { WindowOf } from './answers.ts'
import { amountOfDay, dayAmountText, type HourAmount } from './day-amounts.ts'

interface WindowInWords {
  /** `in the last 30 days` */
  readonly during: string
  /** It begins with the oldest reading, so that it is shorter than the base of the coverage. */
  readonly isTruncated: boolean
}

export function kindSentences(figures: WindowFigures, quantity: Quantity, window: WindowInWords): string[] {
  const { during } = window
  if (figures.count === 0 && figures.kind !== 'state') return [t('There is no value {during}.', { during })]
  switch (figures.kind) {
    case 'counter':
      return counterSentences(figures, quantity, during)
    case 'rate':
      return rateSentences(figures, quantity, window)
    case 'direction':
      return directionSentences(figures, quantity)
    case 'state':
      return stateSentences(figures, quantity, during)
  }
}

const daySeconds = 86_400

function counterSentences(figures: WindowOf<'counter'>, quantity: Quantity, during: string): string[] {
  const { increase, increase_per_day, span_seconds, resets, resets_total } = figures
  if (increase === null) return [t('There is only one value {during}, so its increase is not known.', { during })]
  const grown = measureDifference(increase, quantity)
  const isLong = increase_per_day !== null && span_seconds >= daySeconds
  const sentences = [
    isLong
      ? t('{name} has grown by {grown} {during}, {rate} a day.', {
          name: quantity.name,
          grown,
          during,
          rate: measureDifference(increase_per_day, quantity),
        })
      : t('{name} has grown by {grown} {during}.', { name: quantity.name, grown, during }),
  ]
  const [last] = resets
  if (last !== undefined) {
    const [from, to] = [localMinuteText(last.after), endText(last.after, last.until)]
    const total = measure(last.value_before, quantity)
    sentences.push(
      resets_total === 1
        ? t('It started again once between {from} and {to}, after {total}.', { from, to, total })
        : tn(
            resets_total,
            'It started again {count} time, the last time between {from} and {to}, after {total}.',
            'It started again {count} times, the last time between {from} and {to}, after {total}.',
            { from, to, total },
          ),
    )
  }
  return sentences
}

/** The end of a span. Without its date, where that is the date of the start. */
function endText(start: string, end: string): string {
  return start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : localMinuteText(end)
}

function rateSentences(
  figures: WindowOf<'rate'>,
  quantity: Quantity,
  { during, isTruncated }: WindowInWords,
): string[] {
  const { sum, coverage, greatest_hour } = figures
  if (sum === null) return [t('There is no value {during}.', { during })]
  const isPart = !isTruncated && coverage !== null && coverage < 0.995
  const total = measureDifference(sum, quantity)
  const sentences = [
    isPart
      ? t('{name} sums up to {total} {during}, from {share} of the expected values.', {
          name: quantity.name,
          total,
          during,
          share: percent(coverage),
        })
      : t('{name} sums up to {total} {during}.', { name: quantity.name, total, during }),
  ]
  if (greatest_hour !== null && greatest_hour.sum > 0) {
    const { start, end } = greatest_hour
    const most = measureDifference(greatest_hour.sum, quantity)
    sentences.push(
      t('The most in an hour was {most}, from {start} to {end}.', {
        most,
        start: localMinuteText(start),
        end: endText(start, end),
      }),
    )
  }
  return sentences
}

function directionSentences(figures: WindowOf<'direction'>, quantity: Quantity): string[] {
  const { mean_degrees, resultant_length, vector, rose } = figures
  const sentences: string[] = []
  if (mean_degrees === null || resultant_length === null) {
    sentences.push(t('{name} has no mean: its values cancel out.', { name: quantity.name }))
  } else {
    const mean = directionText(mean_degrees, quantity.decimals)
    const spread = t('{spread} (resultant length {length})', {
      spread: spreadWords(resultant_length),
      length: decimalText(resultant_length, 2),
    })
    sentences.push(t('On average {name} is {mean}, {spread}.', { name: nameWithin(quantity), mean, spread }))
  }
  const most = Math.max(...rose.sector_counts)
  const point = compassPoints[rose.sector_counts.indexOf(most)]
  if (most > 0 && point !== undefined)
    sentences.push(t('Most often it is {point}: {share} of the values.', { point, share: percent(most / rose.count) }))
  if (rose.calm_share !== null) sentences.push(t('It is calm in {share} of them.', { share: percent(rose.calm_share) }))
  if (vector !== null && vector.vector_direction_degrees !== null && vector.steadiness !== null) {
    const weighted = directionText(vector.vector_direction_degrees, quantity.decimals)
    sentences.push(
      t('Weighted by its speed it is {weighted}, with a steadiness of {share}.', {
        weighted,
        share: percent(vector.steadiness),
      }),
    )
  }
  return sentences
}

/** A mean resultant length is 1 where all directions are equal, and 0 where they cancel out. */
function spreadWords(length: number): string {
  if (length >= 0.9) return t('and hardly varies')
  if (length >= 0.7) return t('and varies little')
  return length >= 0.4 ? t('and varies much') : t('but any other is nearly as common')
}

/** More states are in the table. */
const statesShown = 6

function stateSentences(figures: WindowOf<'state'>, quantity: Quantity, during: string): string[] {
  const { states, known_seconds, unknown_seconds, changes, last_change } = figures
  if (known_seconds === 0) return [t('Nothing is known of its state {during}.', { during })]
  const ofSwitch = isSwitch(
    states.map(({ state }) => state),
    quantity,
  )
  const longest = states.toSorted((a, b) => b.seconds - a.seconds)
  const texts = longest.slice(0, statesShown).map(({ state, seconds, share }) =>
    t('{state} for {duration} ({share})', {
      state: stateInWords(state, ofSwitch),
      duration: duration(seconds),
      share: percent(share),
    }),
  )
  const rest = longest.length - texts.length
  const all = listed(rest > 0 ? [...texts, tn(rest, '{count} other', '{count} others')] : texts)
  const sentences = [t('{during}, {name} was {all}.', { during: capitalised(during), name: nameWithin(quantity), all })]
  if (unknown_seconds >= 60)
    sentences.push(t('For {duration} its state is not known.', { duration: duration(unknown_seconds) }))
  // The last change may be older than the window.
  if (last_change === null || changes === 0) sentences.push(t('It has not changed.'))
  else {
    const [from, to] = [stateInWords(last_change.from, ofSwitch), stateInWords(last_change.to, ofSwitch)]
    const at = localMinuteText(last_change.at)
    sentences.push(
      changes === 1
        ? t('It changed once, from {from} to {to} on {at}.', { from, to, at })
        : tn(
            changes,
            'It changed {count} time, last from {from} to {to} on {at}.',
            'It changed {count} times, last from {from} to {to} on {at}.',
            { from, to, at },
          ),
    )
  }
  return sentences
}

/** `Today so far 3.2 mm, the most between 14:00 and 15:00.`, and the same of yesterday. */
export function dayAmountSentences(past: PastDays, metric: string, quantity: Quantity): string[] {
  const days = [
    { name: t('Today so far'), day: 'today' },
    { name: t('Yesterday'), day: 'yesterday' },
  ] as const
  return days.flatMap(({ name, day }) => {
    const of = amountOfDay(past[day], metric)
    if (of === undefined) return []
    return [`${dayAmountText(of, quantity, day, amount => `${name} ${amount}${mostText(of.hours)}`)}.`]
  })
}

function mostText(hours: readonly HourAmount[]): string {
  const most = hours.reduce((best, one) => (one.amount > best.amount ? one : best), { hour: 0, amount: 0 })
  return most.amount > 0
    ? t(', the most between {from} and {to}', { from: hourText(most.hour), to: hourText(most.hour + 1) })
    : ''
}
