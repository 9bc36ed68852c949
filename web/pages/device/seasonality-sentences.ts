/** Cycles, autocorrelation and trend of a metric in sentences for readers without statistics. */

import type { Autocorrelation } from '../../../query/shapes/correlation.ts'
import type { Peak, Seasonality } from '../../../query/shapes/seasonality.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
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
import { countText, tn } from '../../words/words.ts'
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
  if (all.length === 0) return `There are no readings ${isOfAll ? 'yet' : during}.`
  if (all.every(({ reason }) => reason === 'short_span')) {
    const [first] = all
    const sentence = reasonSentence('short_span', first?.lack ?? null)
    return isOfAll ? `${historySentence(stats)} ${sentence}` : sentence
  }
  const daily = names.filter(name => seasonalityOf(stats, name)?.peaks.some(peak => peak.significant && isDaily(peak)))
  if (daily.length === 0) return noDailySentence(all)
  return `There is a daily cycle of ${listed(daily.map(name => nameWithin(quantities.of(name))))}.`
}

/** There is none only where one was looked for. */
function noDailySentence(all: readonly Seasonality[]): string {
  if (all.some(({ status }) => status === 'ok')) return 'There is no daily cycle.'
  const [sentence, ...others] = new Set(all.map(({ reason, lack }) => reasonSentence(reason, lack)))
  return sentence === undefined || others.length > 0 ? 'No metric could be tested for a daily cycle.' : sentence
}

function historySentence({ reliability: { windows, days } }: Stats): string {
  if (windows['24h'].truncated) return 'There is less than a day of readings.'
  // The first and the last of them are not whole.
  const count = Math.max(1, days.filter(({ state }) => state !== null).length - 1)
  return `There ${count === 1 ? 'is' : 'are'} ${tn(count, '{count} day', '{count} days')} of readings.`
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
  if (first === undefined) return [`${quantity.name} shows no regular cycle.`]
  const [cycle, size] = [`${quantity.name} has a cycle of ${period(first)}`, swing(first.amplitude, quantity)]
  // Found by its days, it is hardly seen in the whole variance.
  const sentences = [
    isDaily(first) && first.snr < snrMin && day !== null
      ? `${cycle}: it explains ${percent(day.share)} of the variance within a day, and swings by ${size} either way.`
      : `${cycle}: it explains ${percent(first.power)} of the variance, and swings by ${size} either way.`,
  ]
  const isClear = Math.max(first.power, day?.share ?? 0) >= dayShareMin
  if (isDaily(first) && isClear && peak_hour !== null && trough_hour !== null) {
    sentences.push(`A usual day is highest about ${hourText(peak_hour)} and lowest about ${hourText(trough_hour)}.`)
  }
  const smaller = others.filter(peak => !isOfWeek(peak, found))
  if (smaller.length < others.length) sentences.push('Its days differ over the week.')
  if (smaller.length > 0) {
    const texts = listed(smaller.map(peak => `${period(peak)} (${percent(peak.power)})`))
    sentences.push(smaller.length === 1 ? `A smaller cycle is of ${texts}.` : `Smaller cycles are of ${texts}.`)
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
    sentences.push(`Values stay related for about ${inOneUnit(decorrelation_hours * 3600)}.`)
  } else if (max_lag_hours !== null) {
    sentences.push(`Values are still related ${inOneUnit(max_lag_hours * 3600)} later.`)
  }
  if (peak !== null) {
    sentences.push(
      `The pattern repeats most closely after ${inOneUnit(peak.lag_hours * 3600, true)} (correlation ${decimalText(peak.r, 2)}).`,
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
  const rate = `${differenceText(slope, quantity)} a day`
  const interval = `95\u202f% interval ${from} to ${to}`
  if (trend.direction === 'none') return [`There is no clear trend (${rate}, ${interval}).`]
  return [isFalling ? `It is falling by ${rate} (${interval}).` : `It is rising by ${rate} (${interval}).`]
}

const nameOfTest = {
  range: 'out of range',
  spike: 'spike',
  rate: 'sudden step',
  flat: 'flat line',
  error_code: 'error code',
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
  return `${countText(suspect)} of ${countText(good + suspect)} readings ${suspect === 1 ? 'is' : 'are'} suspect (${findings(suspect, found)}).`
}

/** A reading may be found by several tests, so that their counts are more than there are readings. That is said. */
function findings(suspect: number, found: readonly { readonly name: string; readonly count: number }[]): string {
  if (suspect === 1) return listed(found.map(({ name }) => name))
  const texts = found.map(({ name, count }) => `${name} ${countText(count)}`).join(', ')
  const repeated = found.reduce((sum, { count }) => sum + count, 0) - suspect
  if (repeated === 0) return texts
  if (found.length > 2) return `${texts}; some are several of these`
  return `${texts}; ${countText(repeated)} ${repeated === 1 ? 'is' : 'are'} both`
}
