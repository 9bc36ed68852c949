/**
 * A finding, or an anomaly, as a sentence. The service writes it in English, stored units and its own time zone, a page
 * in its reader's. The differences are passed as `FindingWords`.
 */

import type { Words } from './words.ts'

interface FindingData {
  readonly code: string
  readonly metric: string | null
  readonly sinceMs: number
  readonly untilMs: number | null
  readonly value: number | null
  readonly expected: readonly [number | null, number | null] | null
  readonly count: number | null
  readonly pattern: { readonly from: string; readonly to: string; readonly days: number } | null
  readonly reason: string | null
}

export interface FindingWords {
  /** Title of a metric at the beginning of a sentence, and within one. */
  name(metric: string): string
  nameWithin(metric: string): string
  /** A value with its unit; `extraDecimals` are added to the metric's own. */
  measure(value: number, metric: string, extraDecimals?: number): string
  /** The difference between two values, with its unit; `extraDecimals` as in `measure`. */
  difference(value: number, metric: string, extraDecimals?: number): string
  /** The difference of two values as `measure` shows them, from the lower one up. */
  shownDifference(low: number, high: number, metric: string, extraDecimals: number): string
  /** `23 Nov 2026, 12:04`, and the date alone. */
  moment(timeMs: number): string
  date(timeMs: number): string
  /** `6 hours` */
  duration(seconds: number): string
  readonly language: Words
}

/** A longer upper end of an interval of days is shown as "more than". */
const daysShownMax = 365

/** More decimals would show a difference between value and limit that is below every sensor's resolution. */
const extraDecimalsMax = 3

const minutesOfDay = 1440
/** The longest night lasts from 20:00 to 10:00. */
const nightMinutesMax = 14 * 60

/** The text has no full stop. It must not contain an age, which would grow. */
export function findingText(finding: FindingData, usual: FindingWords): string {
  const isOfShift = finding.code === 'level_change' || finding.code === 'unusual'
  const words = isOfShift ? usual : withDistinctValue(finding, usual)
  const since = words.moment(finding.sinceMs)
  const { t } = words.language
  const name = finding.metric === null ? t('A value') : words.name(finding.metric)
  switch (finding.code) {
    case 'silent':
      return t('No reading since {since}', { since })
    case 'silent_metric':
      return absenceText(finding, name, words)
    case 'outage':
      return outageText(finding, words)
    case 'outage_pattern':
      return patternText(finding, words)
    case 'stuck':
    case 'flat_line':
      return stuckText(finding, name, words)
    case 'out_of_range':
      return rangeText(finding, name, words)
    case 'error_code':
      return errorText(finding, name, words)
    case 'level_change':
      return levelText(finding, name, words)
    case 'ramp':
      return rampText(finding, name, words)
    case 'unusual':
      return unusualText(finding, name, words)
    case 'drift':
      return driftText(finding, name, words)
    case 'battery_level':
      return t('The battery runs low') + valueText(finding, words)
    case 'battery_days':
      return batteryText(finding, words)
    case 'rejected':
      return rejectedText(finding, words)
    case 'spikes':
      return spikesText(finding, words)
    case 'excursion':
      return excursionText(finding, name, words)
    case 'spike':
      return (
        t('{name} had a spike at {since}', { name, since }) + valueText(finding, words) + expectedText(finding, words)
      )
    case 'jump':
      return t('{name} jumped at {since}', { name, since }) + valueText(finding, words) + expectedText(finding, words)
    default:
      return t('{name}: {code} since {since}', { name, code: finding.code, since })
  }
}

/** Adds decimals until the value differs from the expected range: "52 %, expected 52 % to 91 %" contradicts itself. */
function withDistinctValue({ metric, value, expected }: FindingData, words: FindingWords): FindingWords {
  if (metric === null || value === null || expected === null) return words
  const limits = expected.filter(limit => limit !== null)
  const custom = decimalsApart(value, limits, (one, decimals) => words.measure(one, metric, decimals))
  return custom === 0 ? words : { ...words, measure: (one, of) => words.measure(one, of, custom) }
}

/** The fewest additional decimals with which `text` shows `value` differently from every unequal other value. */
export function decimalsApart(
  value: number,
  others: readonly number[],
  text: (one: number, extraDecimals: number) => string,
): number {
  const different = others.filter(other => other !== value)
  return fewestDecimals(custom => different.every(other => text(other, custom) !== text(value, custom)))
}

/** Returns the maximum where none suffice. */
function fewestDecimals(areEnough: (custom: number) => boolean): number {
  let custom = 0
  while (custom < extraDecimalsMax && !areEnough(custom)) custom++
  return custom
}

function outageText({ sinceMs, untilMs, count }: FindingData, words: FindingWords): string {
  const { t, tn } = words.language
  const since = words.moment(sinceMs)
  if (untilMs === null) return t('No reading since {since}', { since })
  const duration = words.duration((untilMs - sinceMs) / 1000)
  const outages = count ?? 1
  const others =
    outages > 1
      ? tn(outages, ', the longest of {count} outage in 7 days', ', the longest of {count} outages in 7 days')
      : ''
  return t('No readings for {duration} from {since}', { duration, since }) + others
}

function patternText({ pattern, count }: FindingData, { language: { t } }: FindingWords): string {
  if (pattern === null) return t('No readings at the same time of many days')
  const { from, to, days } = pattern
  const on = count === null || count >= days ? '' : t(', on {count} of {days} days', { count, days })
  const text = isNight(from, to)
    ? t('No readings every night from {from} to {to}', { from, to })
    : t('No readings every day from {from} to {to}', { from, to })
  return text + on
}

/** True from the evening until the next morning. */
function isNight(from: string, to: string): boolean {
  const minutes = (minuteOf(to) - minuteOf(from) + minutesOfDay) % minutesOfDay
  return (from >= '20:00' || from < '06:00') && to <= '10:00' && minutes <= nightMinutesMax
}

/** Parses `HH:mm`. */
function minuteOf(clock: string): number {
  return 60 * Number(clock.slice(0, 2)) + Number(clock.slice(3))
}

function absenceText({ sinceMs, untilMs }: FindingData, name: string, words: FindingWords): string {
  const { t } = words.language
  return untilMs === null
    ? t('{name} is missing from the readings since {since}', { name, since: words.moment(sinceMs) })
    : t('{name} was missing from the readings {times}', { name, times: lastingText(sinceMs, untilMs, words) })
}

function stuckText(finding: FindingData, name: string, words: FindingWords): string {
  const { t } = words.language
  const { sinceMs, untilMs, metric, value } = finding
  const level = value === null || metric === null ? t('one value') : words.measure(value, metric)
  if (untilMs === null)
    return t('{name} has stood at {level} since {since}', { name, level, since: words.moment(sinceMs) })
  const times = lastingText(sinceMs, untilMs, words)
  return t('{name} stood at {level} {times}', { name, level, times }) + timesText(finding, words)
}

function rangeText(finding: FindingData, name: string, words: FindingWords): string {
  const { t } = words.language
  const { sinceMs, untilMs } = finding
  const rest = `${valueText(finding, words)}${expectedText(finding, words)}`
  if (untilMs === null)
    return t('{name} has been out of range since {since}', { name, since: words.moment(sinceMs) }) + rest
  const times = lastingText(sinceMs, untilMs, words)
  return t('{name} was out of range {times}', { name, times }) + timesText(finding, words) + rest
}

function errorText({ metric, value, count, sinceMs, untilMs }: FindingData, name: string, words: FindingWords): string {
  const { t, tn } = words.language
  const number = metric === null || value === null ? t('a number') : words.measure(value, metric)
  const isOnce = untilMs !== null && (count ?? 1) === 1
  const times = isOnce ? lastingText(sinceMs, untilMs, words) : t('since {since}', { since: words.moment(sinceMs) })
  const often = (count ?? 1) === 1 ? '' : tn(count as number, ' in {count} reading', ' in {count} readings')
  const values = { name, number, often, times }
  return untilMs === null
    ? t('{name} has shown {number}{often} {times}, a code for an error of the sensor', values)
    : t('{name} showed {number}{often} {times}, a code for an error of the sensor', values)
}

function levelText(
  { metric, value, expected, sinceMs, untilMs }: FindingData,
  name: string,
  words: FindingWords,
): string {
  const { t } = words.language
  const [low, high] = expected ?? [null, null]
  const since = words.date(sinceMs)
  const until = untilMs === null ? null : words.date(untilMs)
  if (metric === null || value === null || low === null || high === null) {
    return until === null
      ? t('The level of {name} has changed since {since}', { name, since })
      : t('The level of {name} was another from {since} to {until}', { name, since, until })
  }
  const before = (low + high) / 2
  const { shift, levels } = shiftTexts(value, before, metric, words)
  const [level, usual] = levels
  const isHigher = value > before
  if (until === null) {
    const values = { name, shift, since, level, usual }
    return isHigher
      ? t('{name} has been {shift} higher since {since}: about {level} instead of {usual}', values)
      : t('{name} has been {shift} lower since {since}: about {level} instead of {usual}', values)
  }
  const values = { name, shift, since, until, level, usual }
  return isHigher
    ? t('{name} was {shift} higher from {since} to {until}: about {level} instead of {usual}', values)
    : t('{name} was {shift} lower from {since} to {until}: about {level} instead of {usual}', values)
}

/** `Temperature has been 3.1 °C lower than usual for these hours since 02:00`. */
function unusualText(
  { metric, value, expected, sinceMs, untilMs }: FindingData,
  name: string,
  words: FindingWords,
): string {
  const { t } = words.language
  const [low, high] = expected ?? [null, null]
  const times =
    untilMs === null ? t('since {since}', { since: words.moment(sinceMs) }) : lastingText(sinceMs, untilMs, words)
  if (metric === null || value === null || low === null || high === null) {
    return untilMs === null
      ? t('{name} has been unusual {times}', { name, times })
      : t('{name} was unusual {times}', { name, times })
  }
  const before = (low + high) / 2
  const isHigher = value > before
  const values = { name, size: sizeText(value - before, metric, words), times }
  if (untilMs === null) {
    return isHigher
      ? t('{name} has been {size} higher than usual for these hours {times}', values)
      : t('{name} has been {size} lower than usual for these hours {times}', values)
  }
  return isHigher
    ? t('{name} was {size} higher than usual for these hours {times}', values)
    : t('{name} was {size} lower than usual for these hours {times}', values)
}

/** `Temperature has been rising by 0.3 °C a day since about 8 Nov 2026`. */
function rampText({ metric, value, sinceMs }: FindingData, name: string, words: FindingWords): string {
  const { t } = words.language
  const since = words.date(sinceMs)
  if (metric === null || value === null) return t('{name} changes from day to day since about {since}', { name, since })
  const values = { name, size: sizeText(value, metric, words), since }
  return value > 0
    ? t('{name} has been rising by {size} a day since about {since}', values)
    : t('{name} has been falling by {size} a day since about {since}', values)
}

/** The size of a change, with so many decimals that it is not 0. */
function sizeText(change: number, metric: string, { difference }: FindingWords): string {
  const size = Math.abs(change)
  const custom = fewestDecimals(decimals => /[1-9]/.test(difference(size, metric, decimals)))
  return difference(size, metric, custom)
}

/** Adds decimals until the levels differ, by the displayed shift. */
function shiftTexts(
  value: number,
  before: number,
  metric: string,
  { measure, difference, shownDifference }: FindingWords,
) {
  const [low, high] = [Math.min(value, before), Math.max(value, before)]
  const custom = fewestDecimals(decimals => {
    const areApart = value === before || measure(value, metric, decimals) !== measure(before, metric, decimals)
    const shown = difference(high - low, metric, decimals)
    return areApart && (hasTwoDigits(shown) || shownDifference(low, high, metric, decimals) === shown)
  })
  return {
    // The difference of the levels as they are shown; it may be one step off the exact one.
    shift: shownDifference(low, high, metric, custom),
    levels: [measure(value, metric, custom), measure(before, metric, custom)],
  } as const
}

/** True for `3.5` and `0.35`, in which a step of the last digit is small. */
function hasTwoDigits(text: string): boolean {
  return text.replace(/^[^1-9]*/, '').replace(/\D/g, '').length >= 2
}

/** Without peers, the device is compared with its own earlier days. */
function driftText(finding: FindingData, name: string, words: FindingWords): string {
  const { t } = words.language
  const text = finding.count === 0 ? t('{name} has changed', { name }) : t('{name} is unlike its neighbours', { name })
  return text + valueText(finding, words) + expectedText(finding, words)
}

function batteryText({ value, expected }: FindingData, { language: { t, tn } }: FindingWords): string {
  if (value === null) return t('The battery runs low')
  const text =
    value < 1
      ? t('The battery lasts less than a day')
      : tn(Math.round(value), 'The battery lasts about {count} day', 'The battery lasts about {count} days')
  const [low, high] = expected ?? [null, null]
  // The interval is omitted where it is trivial: for an exact line, and for an empty battery.
  if (low === null || high === null || high - low < 1) return text
  const interval =
    high > daysShownMax
      ? t('{low} to more than {high}', { low: Math.floor(low), high: daysShownMax })
      : t('{low} to {high}', { low: Math.floor(low), high: Math.ceil(high) })
  return `${text} (${interval})`
}

function rejectedText({ reason, count, sinceMs }: FindingData, words: FindingWords): string {
  const { t, tn } = words.language
  const because = reason === null ? '' : `: ${reason}`
  const since = words.moment(sinceMs)
  const text =
    count === null
      ? t('Readings have been rejected, as a whole or in part, since {since}', { since })
      : tn(
          count,
          'At least {count} reading has been rejected, as a whole or in part, since {since}',
          'At least {count} readings have been rejected, as a whole or in part, since {since}',
          { since },
        )
  return text + because
}

function spikesText({ metric, count, sinceMs, value }: FindingData, words: FindingWords): string {
  const { t, tn } = words.language
  const spikes = count === null ? t('Spikes') : tn(count, '{count} spike', '{count} spikes')
  const since = words.moment(sinceMs)
  if (metric === null) return t('{spikes} since {since}', { spikes, since })
  const text = t('{spikes} in {name} since {since}', { spikes, name: words.nameWithin(metric), since })
  return value === null ? text : text + t(', the farthest at {value}', { value: words.measure(value, metric) })
}

function excursionText(finding: FindingData, name: string, words: FindingWords): string {
  const { t } = words.language
  const { metric, value, expected, sinceMs, untilMs } = finding
  const [low, high] = expected ?? [null, null]
  const isAbove = high !== null && (low === null || (value !== null && value > high))
  const beyond = beyondText(metric, isAbove ? high : low, isAbove, words)
  const rest = valueText(finding, words)
  if (untilMs === null)
    return t('{name} has been {beyond} since {since}', { name, beyond, since: words.moment(sinceMs) }) + rest
  const times = lastingText(sinceMs, untilMs, words)
  return t('{name} was {beyond} {times}', { name, beyond, times }) + timesText(finding, words) + rest
}

function beyondText(metric: string | null, limit: number | null, isAbove: boolean, words: FindingWords): string {
  const { t } = words.language
  if (limit === null || metric === null) return t('outside of its limits')
  const shown = { limit: words.measure(limit, metric) }
  return isAbove ? t('above {limit}', shown) : t('below {limit}', shown)
}

/** An episode shorter than a minute is described by its moment. */
function lastingText(sinceMs: number, untilMs: number, words: FindingWords): string {
  const { t } = words.language
  const seconds = (untilMs - sinceMs) / 1000
  const since = words.moment(sinceMs)
  return seconds < 60
    ? t('at {since}', { since })
    : t('for {duration} from {since}', { duration: words.duration(seconds), since })
}

function timesText({ count }: FindingData, { language: { tn } }: FindingWords): string {
  return (count ?? 1) > 1 ? tn(count as number, ' ({count} time in 7 days)', ' ({count} times in 7 days)') : ''
}

function valueText({ metric, value }: FindingData, words: FindingWords): string {
  return metric === null || value === null ? '' : `: ${words.measure(value, metric)}`
}

function expectedText({ metric, expected }: FindingData, words: FindingWords): string {
  const { t } = words.language
  const [low, high] = expected ?? [null, null]
  if (metric === null || (low === null && high === null)) return ''
  if (low === null) return t(', expected up to {limit}', { limit: words.measure(high as number, metric) })
  if (high === null) return t(', expected from {limit}', { limit: words.measure(low, metric) })
  const [from, to] = [words.measure(low, metric), words.measure(high, metric)]
  return from === to ? t(', expected {value}', { value: to }) : t(', expected {from} to {to}', { from, to })
}
