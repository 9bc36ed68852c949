/**
 * A finding, or an anomaly, as a sentence. The service writes it in stored units and its own time zone, a page in its
 * reader's. The differences are passed as `FindingWords`.
 */

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
  /** `1 reading`, `2 readings` */
  count(count: number, noun: string): string
}

/** A longer upper end of an interval of days is shown as "more than". */
const daysShownMax = 365

/** More decimals would show a difference between value and limit that is below every sensor's resolution. */
const extraDecimalsMax = 3

const minutesOfDay = 1440
/** From 20:00 to 10:00. */
const nightMinutesMax = 14 * 60

/** Without a full stop. The text must not contain an age, which would grow. */
export function findingText(finding: FindingData, usual: FindingWords): string {
  const isOfShift = finding.code === 'level_change' || finding.code === 'unusual'
  const words = isOfShift ? usual : withDistinctValue(finding, usual)
  const since = words.moment(finding.sinceMs)
  const name = finding.metric === null ? 'A value' : words.name(finding.metric)
  switch (finding.code) {
    case 'silent':
      return `No reading since ${since}`
    case 'silent_metric':
      return absenceText(finding, name, words)
    case 'outage':
      return outageText(finding, words)
    case 'outage_pattern':
      return patternText(finding)
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
      return `The battery runs low${valueText(finding, words)}`
    case 'battery_days':
      return batteryText(finding, words)
    case 'rejected':
      return rejectedText(finding, words)
    case 'spikes':
      return spikesText(finding, words)
    case 'excursion':
      return excursionText(finding, name, words)
    case 'spike':
      return `${name} had a spike at ${since}${valueText(finding, words)}${expectedText(finding, words)}`
    case 'jump':
      return `${name} jumped at ${since}${valueText(finding, words)}${expectedText(finding, words)}`
    default:
      return `${name}: ${finding.code} since ${since}`
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
  if (untilMs === null) return `No reading since ${words.moment(sinceMs)}`
  const length = words.duration((untilMs - sinceMs) / 1000)
  const others = (count ?? 1) > 1 ? `, the longest of ${words.count(count as number, 'outage')} in 7 days` : ''
  return `No readings for ${length} from ${words.moment(sinceMs)}${others}`
}

function patternText({ pattern, count }: FindingData): string {
  if (pattern === null) return 'No readings at the same time of many days'
  const { from, to, days } = pattern
  const on = count === null || count >= days ? '' : `, on ${count} of ${days} days`
  return `No readings every ${isNight(from, to) ? 'night' : 'day'} from ${from} to ${to}${on}`
}

/** From the evening until the next morning. */
function isNight(from: string, to: string): boolean {
  const minutes = (minuteOf(to) - minuteOf(from) + minutesOfDay) % minutesOfDay
  return (from >= '20:00' || from < '06:00') && to <= '10:00' && minutes <= nightMinutesMax
}

/** Parses `HH:mm`. */
function minuteOf(clock: string): number {
  return 60 * Number(clock.slice(0, 2)) + Number(clock.slice(3))
}

function absenceText({ sinceMs, untilMs }: FindingData, name: string, words: FindingWords): string {
  return untilMs === null
    ? `${name} is missing from the readings since ${words.moment(sinceMs)}`
    : `${name} was missing from the readings ${lastingText(sinceMs, untilMs, words)}`
}

function stuckText(finding: FindingData, name: string, words: FindingWords): string {
  const { sinceMs, untilMs, metric, value } = finding
  const level = value === null || metric === null ? 'one value' : words.measure(value, metric)
  return untilMs === null
    ? `${name} has stood at ${level} since ${words.moment(sinceMs)}`
    : `${name} stood at ${level} ${lastingText(sinceMs, untilMs, words)}${timesText(finding, words)}`
}

function rangeText(finding: FindingData, name: string, words: FindingWords): string {
  const { sinceMs, untilMs } = finding
  const rest = `${valueText(finding, words)}${expectedText(finding, words)}`
  return untilMs === null
    ? `${name} has been out of range since ${words.moment(sinceMs)}${rest}`
    : `${name} was out of range ${lastingText(sinceMs, untilMs, words)}${timesText(finding, words)}${rest}`
}

function errorText({ metric, value, count, sinceMs, untilMs }: FindingData, name: string, words: FindingWords): string {
  const number = metric === null || value === null ? 'a number' : words.measure(value, metric)
  const verb = untilMs === null ? 'has shown' : 'showed'
  const isOnce = untilMs !== null && (count ?? 1) === 1
  const times = isOnce ? lastingText(sinceMs, untilMs, words) : `since ${words.moment(sinceMs)}`
  const often = (count ?? 1) === 1 ? '' : ` in ${words.count(count as number, 'reading')}`
  return `${name} ${verb} ${number}${often} ${times}, a code for an error of the sensor`
}

function levelText(
  { metric, value, expected, sinceMs, untilMs }: FindingData,
  name: string,
  words: FindingWords,
): string {
  const [low, high] = expected ?? [null, null]
  const since = words.date(sinceMs)
  const verb = untilMs === null ? `has changed since ${since}` : `was another from ${since} to ${words.date(untilMs)}`
  if (metric === null || value === null || low === null || high === null) return `The level of ${name} ${verb}`
  const before = (low + high) / 2
  const way = value > before ? 'higher' : 'lower'
  const has = untilMs === null ? 'has been' : 'was'
  const times = untilMs === null ? `since ${since}` : `from ${since} to ${words.date(untilMs)}`
  const { shift, levels } = shiftTexts(value, before, metric, words)
  return `${name} ${has} ${shift} ${way} ${times}: about ${levels[0]} instead of ${levels[1]}`
}

/** `Temperature has been 3.1 °C lower than usual for these hours since 02:00`. */
function unusualText(
  { metric, value, expected, sinceMs, untilMs }: FindingData,
  name: string,
  words: FindingWords,
): string {
  const [low, high] = expected ?? [null, null]
  const times = untilMs === null ? `since ${words.moment(sinceMs)}` : lastingText(sinceMs, untilMs, words)
  const verb = untilMs === null ? 'has been' : 'was'
  if (metric === null || value === null || low === null || high === null) return `${name} ${verb} unusual ${times}`
  const before = (low + high) / 2
  const way = value > before ? 'higher' : 'lower'
  return `${name} ${verb} ${sizeText(value - before, metric, words)} ${way} than usual for these hours ${times}`
}

/** `Temperature has been rising by 0.3 °C a day since about 8 Nov 2026`. */
function rampText({ metric, value, sinceMs }: FindingData, name: string, words: FindingWords): string {
  if (metric === null || value === null) return `${name} changes from day to day since about ${words.date(sinceMs)}`
  const way = value > 0 ? 'rising' : 'falling'
  return `${name} has been ${way} by ${sizeText(value, metric, words)} a day since about ${words.date(sinceMs)}`
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
  const how = finding.count === 0 ? 'has changed' : 'is unlike its neighbours'
  return `${name} ${how}${valueText(finding, words)}${expectedText(finding, words)}`
}

function batteryText({ value, expected }: FindingData, { count }: FindingWords): string {
  if (value === null) return 'The battery runs low'
  const about = value < 1 ? 'less than a day' : `about ${count(Math.round(value), 'day')}`
  const [low, high] = expected ?? [null, null]
  // The interval is omitted where it is trivial: for an exact line, and for an empty battery.
  if (low === null || high === null || high - low < 1) return `The battery lasts ${about}`
  const longest = high > daysShownMax ? `more than ${daysShownMax}` : Math.ceil(high)
  return `The battery lasts ${about} (${Math.floor(low)} to ${longest})`
}

function rejectedText({ reason, count, sinceMs }: FindingData, words: FindingWords): string {
  const because = reason === null ? '' : `: ${reason}`
  const readings = count === null ? 'Readings' : `At least ${words.count(count, 'reading')}`
  return `${readings} ${count === 1 ? 'has' : 'have'} been rejected, as a whole or in part, since ${words.moment(sinceMs)}${because}`
}

function spikesText({ metric, count, sinceMs, value }: FindingData, words: FindingWords): string {
  const spikes = count === null ? 'Spikes' : words.count(count, 'spike')
  const of = metric === null ? '' : ` in ${words.nameWithin(metric)}`
  const farthest = metric === null || value === null ? '' : `, the farthest at ${words.measure(value, metric)}`
  return `${spikes}${of} since ${words.moment(sinceMs)}${farthest}`
}

function excursionText(finding: FindingData, name: string, words: FindingWords): string {
  const { metric, value, expected, sinceMs, untilMs } = finding
  const [low, high] = expected ?? [null, null]
  const isAbove = high !== null && (low === null || (value !== null && value > high))
  const limit = isAbove ? high : low
  const beyond =
    limit === null || metric === null
      ? 'outside of its limits'
      : `${isAbove ? 'above' : 'below'} ${words.measure(limit, metric)}`
  const rest = valueText(finding, words)
  return untilMs === null
    ? `${name} has been ${beyond} since ${words.moment(sinceMs)}${rest}`
    : `${name} was ${beyond} ${lastingText(sinceMs, untilMs, words)}${timesText(finding, words)}${rest}`
}

/** An episode shorter than a minute is described by its moment. */
function lastingText(sinceMs: number, untilMs: number, words: FindingWords): string {
  const seconds = (untilMs - sinceMs) / 1000
  return seconds < 60 ? `at ${words.moment(sinceMs)}` : `for ${words.duration(seconds)} from ${words.moment(sinceMs)}`
}

function timesText({ count }: FindingData, words: FindingWords): string {
  return (count ?? 1) > 1 ? ` (${words.count(count as number, 'time')} in 7 days)` : ''
}

function valueText({ metric, value }: FindingData, words: FindingWords): string {
  return metric === null || value === null ? '' : `: ${words.measure(value, metric)}`
}

function expectedText({ metric, expected }: FindingData, words: FindingWords): string {
  const [low, high] = expected ?? [null, null]
  if (metric === null || (low === null && high === null)) return ''
  if (low === null) return `, expected up to ${words.measure(high as number, metric)}`
  if (high === null) return `, expected from ${words.measure(low, metric)}`
  const [from, to] = [words.measure(low, metric), words.measure(high, metric)]
  return from === to ? `, expected ${to}` : `, expected ${from} to ${to}`
}
