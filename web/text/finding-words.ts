/** Findings as sentences in the units and the zone of who reads the page. */

import { decimalsApart, type FindingWords, findingText } from '../../analytics/findings/finding-text.ts'
import type { Anomaly } from '../../query/shapes/anomalies.ts'
import type { Finding } from '../../query/shapes/findings.ts'
import type { BatteryInsight, OutlierInsight } from '../../query/shapes/insights.ts'
import type { Times } from '../theme/times.ts'
import { countText, t, tn, words } from '../words/words.ts'
import { inOneUnit } from './numbers.ts'
import {
  isBuiltIn,
  measure,
  measureDifference,
  measureShownDifference,
  nameWithin,
  type Quantities,
} from './quantities.ts'
import { localMs, type Zone } from './zone.ts'

/** Moments on the day of `nowMs` have no date. */
export function pageWords(quantities: Quantities, times: Times, nowMs: number): FindingWords {
  const today = times.date(nowMs)
  return {
    name: metric => quantities.of(metric).name,
    nameWithin: metric => nameWithin(quantities.of(metric)),
    measure: (value, metric, extraDecimals) => measure(value, quantities.of(metric), extraDecimals),
    difference: (value, metric, extraDecimals) => measureDifference(value, quantities.of(metric), extraDecimals),
    shownDifference: (low, high, metric, extraDecimals) =>
      measureShownDifference(low, high, quantities.of(metric), extraDecimals),
    moment: atMs => (times.date(atMs) === today ? times.time(atMs) : times.dateTime(atMs)),
    date: times.date,
    duration: seconds => inOneUnit(seconds),
    language: words,
  }
}

export interface FindingTimes {
  readonly sinceMs: number
  readonly untilMs: number | null
}

/** `zone`: of the answer. */
export function timesOfFinding({ since, until }: Pick<Finding, 'since' | 'until'>, zone: Zone): FindingTimes {
  return { sinceMs: localMs(zone, since), untilMs: until === null ? null : localMs(zone, until) }
}

export function findingSentence(finding: Finding, words: FindingWords, zone: Zone): string {
  return findingText({ ...finding, ...timesOfFinding(finding, zone) }, words)
}

export function timesOfAnomaly({ start, end }: Pick<Anomaly, 'start' | 'end'>, zone: Zone): FindingTimes {
  return timesOfFinding({ since: start, until: end }, zone)
}

/** The sentence for the anomaly's `reason`. */
export function anomalySentence(anomaly: Anomaly, words: FindingWords, zone: Zone): string {
  const { code, metric, value, value_at, expected } = anomaly
  const about = { code, metric, value, expected, count: null, pattern: null, reason: null }
  const { sinceMs, untilMs } = timesOfAnomaly(anomaly, zone)
  return findingText({ ...about, sinceMs: value_at === null ? sinceMs : localMs(zone, value_at), untilMs }, words)
}

/** An upper end beyond it says only that it is far away. */
const daysMax = 365

/** `about 12 days (9 to 17)`; of a battery beside the usual one with its name. */
export function batterySentence(battery: BatteryInsight, quantities: Quantities): string {
  const { metric } = battery
  const left = daysLeftText(battery)
  return isBuiltIn(metric) ? left : `${quantities.of(metric).name}: ${left}`
}

function daysLeftText({ days_left, low, high }: BatteryInsight): string {
  const [shortest, longest] = [Math.floor(low), Math.ceil(high)]
  const about =
    days_left < 1 ? t('less than a day') : tn(Math.round(days_left), 'about {count} day', 'about {count} days')
  // A straight line has an interval without width, and so has an empty battery.
  if (high - low < 1) return about
  const interval =
    longest > daysMax
      ? t('{low} to more than {high}', { low: countText(shortest), high: daysMax })
      : t('{low} to {high}', { low: countText(shortest), high: countText(longest) })
  return `${about} (${interval})`
}

/** The title for outliers and the basis of their sentences: some, all or none have peers. */
export function outliersAbout(outliers: readonly Pick<OutlierInsight, 'peers'>[]): { title: string; note: string } {
  const alone = outliers.filter(({ peers }) => peers === 0).length
  if (alone === 0) {
    return {
      title: t('Unlike the others'),
      note: t('Means of the last 24 hours, and expected means, had the device changed as devices like it did.'),
    }
  }
  if (alone < outliers.length) {
    return {
      title: t('Unlike the others'),
      note: t(
        'Means of the last 24 hours, and expected means, had the device changed as devices like it did, or, where no other is like it, usual values of the device, by the 14 days before.',
      ),
    }
  }
  return {
    title: t('Unlike before'),
    note: t('Means of the last 24 hours, and usual values of the device, by the 14 days before: no other is like it.'),
  }
}

/** `Temperature 31.2 °C, expected 20.5 °C`: had it changed as the devices like it did. */
export function outlierSentence({ metric, value, median }: OutlierInsight, quantities: Quantities): string {
  const quantity = quantities.of(metric)
  const custom = decimalsApart(value, [median], (one, decimals) => measure(one, quantity, decimals))
  return t('{name} {value}, expected {value2}', {
    name: quantity.name,
    value: measure(value, quantity, custom),
    value2: measure(median, quantity, custom),
  })
}
