/** Findings as sentences in the units and the zone of who reads the page. */

import { type FindingWords, findingText } from '../../analytics/findings/finding-text.ts'
import { countOf, inOneUnit } from '../../analytics/findings/value-words.ts'
import type { Anomaly } from '../../query/shapes/anomalies.ts'
import type { Finding } from '../../query/shapes/findings.ts'
import type { Times } from '../theme/times.ts'
import { measure, measureDifference, measureShownDifference, nameWithin, type Quantities } from './quantities.ts'
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
    count: countOf,
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
