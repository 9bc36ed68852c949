/** Cycles, autocorrelation and trend of a metric in sentences for readers without statistics. */

import type { Autocorrelation, Peak, Seasonality, Stats } from '../../../query/shapes/stats.ts'
import { decimalText, inOneUnit } from '../../text/numbers.ts'
import { intervalTexts, listed, percent, twoDigits } from '../../text/phrases.ts'
import {
  differenceText,
  measureDifference,
  nameWithin,
  type Quantities,
  type Quantity,
  shownDifference,
} from '../../text/quantities.ts'
import { reasonSentence } from '../../text/reason-words.ts'
import { hourText } from '../../text/times.ts'
import { countText, t, tn } from '../../words/words.ts'
import type { AnalysesWords } from './analyses-range.ts'
import { seasonalityOf } from './answers.ts'

/** A summary of all metrics: those with a daily cycle, or the length of their history. */
export function seasonalitySummary(
  stats: Stats,
  names: readonly string[],
  quantities: Quantities,
  { during, isOfAll }: AnalysesWords,
): string {
  const all = names.flatMap(name => seasonalityOf(stats, name) ?? [])
  if (all.length === 0)
    return isOfAll ? t('There are no readings yet.') : t('There are no readings {during}.', { during })
  if (all.every(({ reason }) => reason === 'short_span')) {
    const [first] = all
    const sentence = reasonSentence('short_span', first?.lack ?? null)
    return isOfAll ? `${historySentence(stats)} ${sentence}` : sentence
  }
  const daily = names.filter(name => seasonalityOf(stats, name)?.peaks.some(peak => peak.significant && isDaily(peak)))
  if (daily.length === 0) return noDailySentence(all)
  return t('There is a daily cycle of {list}.', { list: listed(daily.map(name => nameWithin(quantities.of(name)))) })
}

/** There is none only where one was looked for. */
function noDailySentence(all: readonly Seasonality[]): string {
  if (all.some(({ status }) => status === 'ok')) return t('There is no daily cycle.')
  const [sentence, ...others] = new Set(all.map(({ reason, lack }) => reasonSentence(reason, lack)))
  return sentence === undefined || others.length > 0 ? t('No metric could be tested for a daily cycle.') : sentence
}

function historySentence({ reliability: { windows, days } }: Stats): string {
  if (windows['24h'].truncated) return t('There is less than a day of readings.')
  // The first and the last of them are not whole.
  const count = Math.max(1, days.filter(({ state }) => state !== null).length - 1)
  return tn(count, 'There is {count} day of readings.', 'There are {count} days of readings.')
}

/** A statement about the whole metric appears once, such as missing data or mere noise. */
export function seasonalitySentences(
  quantity: Quantity,
  cycles: Seasonality,
  autocorrelation: Autocorrelation,
): string[] {
  // Cycles of less than an hour, such as a compressor's, are not in the hourly means.
  const isStill = cycles.strength.reason === 'nearly_constant' && !cycles.peaks.some(({ significant }) => significant)
  if (cycles.reason === 'short_span' || isStill) {
    return [reasonSentence(cycles.reason ?? cycles.strength.reason, cycles.lack)]
  }
  const sentences = [
    ...cycleSentences(quantity, cycles),
    ...autocorrelationSentences(autocorrelation),
    ...trendSentences(quantity, cycles),
  ]
  return [...new Set(sentences)]
}

function cycleSentences(quantity: Quantity, cycles: Seasonality): string[] {
  const { status, reason, lack, peaks, day, peak_hour, trough_hour } = cycles
  if (status !== 'ok') return [reasonSentence(reason, lack)]
  const found = peaks.filter(peak => {
    return peak.significant && peak.harmonic_of === null && (peak.power >= powerMin || isDaily(peak))
  })
  const [first, ...others] = found
  if (first === undefined) return [t('{name} shows no regular cycle.', { name: quantity.name })]
  const [cycle, size] = [
    t('{name} has a cycle of {period}', { name: quantity.name, period: period(first) }),
    swing(first.amplitude, quantity),
  ]
  // Found by its days, it is hardly seen in the whole variance.
  const sentences = [
    isDaily(first) && first.snr < snrMin && day !== null
      ? t('{cycle}: it explains {share} of the variance within a day, and swings by {size} either way.', {
          cycle,
          share: percent(day.share),
          size,
        })
      : t('{cycle}: it explains {share} of the variance, and swings by {size} either way.', {
          cycle,
          share: percent(first.power),
          size,
        }),
  ]
  const isClear = Math.max(first.power, day?.share ?? 0) >= dayShareMin
  if (isDaily(first) && isClear && peak_hour !== null && trough_hour !== null) {
    sentences.push(
      t('A usual day is highest about {high} and lowest about {low}.', {
        high: hourText(peak_hour),
        low: hourText(trough_hour),
      }),
    )
  }
  const smaller = others.filter(peak => !isOfWeek(peak, found))
  if (smaller.length < others.length) sentences.push(t('Its days differ over the week.'))
  if (smaller.length > 0) {
    const texts = listed(smaller.map(peak => `${period(peak)} (${percent(peak.power)})`))
    sentences.push(
      smaller.length === 1
        ? t('A smaller cycle is of {texts}.', { texts })
        : t('Smaller cycles are of {texts}.', { texts }),
    )
  }
  return sentences
}

/** A smaller share of the variance is not visible. */
const powerMin = 0.01
/** Below it, the highest and the lowest hour are chance. */
const dayShareMin = 0.1
/** From this ratio on, the spectrum alone proves a cycle. */
const snrMin = 20

const period = ({ period_hours }: Peak) => inOneUnit(period_hours * 3600, true)
/** A cycle that was found swings by something, however small. */
function swing(amplitude: number, quantity: Quantity): string {
  const shown = shownDifference(amplitude, quantity)
  const hasDigits = Number(shown.toFixed(quantity.decimals)) !== 0
  return hasDigits ? measureDifference(amplitude, quantity) : differenceText(twoDigits(shown), quantity)
}

const weekHours = 168
/** A week with days of two kinds has cycles of all of its fractions, down to those beside the day. */
const weekFractions = 8

/** True for a week, and for a fraction of a week beside it. Half a cycle in the window cannot be distinguished. */
function isOfWeek({ period_hours, cycles }: Peak, found: readonly Peak[]): boolean {
  const weeks = (cycles * period_hours) / weekHours
  const isNear = (count: number, times: number) => Math.abs(count - times * weeks) <= 0.5
  const hasWeek = found.some(peak => isNear(peak.cycles, 1))
  return hasWeek && Array.from({ length: weekFractions }, (_, place) => place + 1).some(times => isNear(cycles, times))
}

const isDaily = ({ period_hours }: Peak) => Math.abs(period_hours - 24) < 0.5

function autocorrelationSentences({
  status,
  reason,
  lack,
  decorrelation_hours,
  max_lag_hours,
  peak,
}: Autocorrelation): string[] {
  if (status !== 'ok') return [reasonSentence(reason, lack)]
  const sentences: string[] = []
  if (decorrelation_hours !== null) {
    sentences.push(t('Values stay related for about {duration}.', { duration: inOneUnit(decorrelation_hours * 3600) }))
  } else if (max_lag_hours !== null) {
    sentences.push(t('Values are still related {duration} later.', { duration: inOneUnit(max_lag_hours * 3600) }))
  }
  if (peak !== null) {
    sentences.push(
      t('The pattern repeats most closely after {duration} (correlation {r}).', {
        duration: inOneUnit(peak.lag_hours * 3600, true),
        r: decimalText(peak.r, 2),
      }),
    )
  }
  return sentences
}

function trendSentences(quantity: Quantity, { status, slope_per_day, slope_ci95, trend }: Seasonality): string[] {
  if (status !== 'ok' || trend === null) return []
  if (trend.direction === null) return [reasonSentence(trend.reason)]
  if (slope_per_day === null || slope_ci95 === null) return []
  // A falling trend is reported as a decrease, and its interval, too.
  const isFalling = trend.direction === 'falling'
  const [low, high] = isFalling ? [-slope_ci95[1], -slope_ci95[0]] : slope_ci95
  const shown = [low, high, isFalling ? -slope_per_day : slope_per_day].map(one => shownDifference(one, quantity))
  const [from, to, slope] = intervalTexts(...(shown as [number, number, number]))
  const rate = t('{difference} a day', { difference: differenceText(slope, quantity) })
  const interval = t('95\u202f% interval {from} to {to}', { from, to })
  if (trend.direction === 'none') return [t('There is no clear trend ({rate}, {interval}).', { rate, interval })]
  return [
    isFalling
      ? t('It is falling by {rate} ({interval}).', { rate, interval })
      : t('It is rising by {rate} ({interval}).', { rate, interval }),
  ]
}

const nameOfTest = {
  range: t('out of range'),
  spike: t('spike'),
  rate: t('sudden step'),
  flat: t('flat line'),
  error_code: t('error code'),
}

/** `2 of 1,720 readings are suspect (spike 2, sudden step 1; 1 is both).`, empty where none is. */
export function qualitySentence({
  good,
  suspect,
  tests,
}: Pick<Stats['quality']['temperature'], 'good' | 'suspect' | 'tests'>): string {
  if (suspect === 0) return ''
  const names = Object.keys(nameOfTest) as (keyof typeof nameOfTest)[]
  const found = names.filter(test => tests[test] > 0).map(test => ({ name: nameOfTest[test], count: tests[test] }))
  return tn(
    suspect,
    '{count} of {total} readings is suspect ({findings}).',
    '{count} of {total} readings are suspect ({findings}).',
    { total: countText(good + suspect), findings: findings(suspect, found) },
  )
}

/** A reading may be found by several tests, so that their counts are more than there are readings. That is said. */
function findings(suspect: number, found: readonly { readonly name: string; readonly count: number }[]): string {
  if (suspect === 1) return listed(found.map(({ name }) => name))
  const texts = found.map(({ name, count }) => `${name} ${countText(count)}`).join(', ')
  const repeated = found.reduce((sum, { count }) => sum + count, 0) - suspect
  if (repeated === 0) return texts
  if (found.length > 2) return t('{texts}; some are several of these', { texts })
  return tn(repeated, '{texts}; {count} is both', '{texts}; {count} are both', { texts })
}
