/** The sentences of findings as the service writes them, and findings in the form of an answer. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import type { Profile } from '../../analytics/domain/profile.ts'
import { type Finding, noDetails, rankFindings } from '../../analytics/findings/finding.ts'
import { type FindingWords, findingText } from '../../analytics/findings/finding-text.ts'
import { builtInMetrics, decimalText, inOneUnit, nameWithin, pointsText } from '../../analytics/findings/value-words.ts'
import { english } from '../../analytics/findings/words.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { Finding as FindingShape, FleetFinding } from '../shapes/findings.ts'
import type { OutlierInsight } from '../shapes/insights.ts'
import type { MetricDescription } from '../shapes/kinds.ts'

type Described = Pick<MetricDescription, 'title' | 'unit' | 'decimals'>

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `custom` has the metrics beside the five. */
export function serviceWords(
  local: Pick<LocalTime, 'text'>,
  custom: readonly (Described & { readonly name: string })[],
): FindingWords {
  const described = new Map<string, Described>(Object.entries(builtInMetrics))
  for (const { name, ...one } of custom) described.set(name, one)
  const of = (metric: string) => described.get(metric) ?? { title: metric, unit: null, decimals: 2 }
  const measure = (value: number, metric: string, extraDecimals = 0) => withUnit(value, of(metric), extraDecimals)
  return {
    name: metric => of(metric).title,
    nameWithin: metric => nameWithin(of(metric).title),
    measure,
    difference: (value, metric, extraDecimals = 0) => differenceText(value, of(metric), extraDecimals),
    shownDifference: (low, high, metric, extraDecimals) => {
      const shown = (value: number) => Number(value.toFixed(of(metric).decimals + extraDecimals))
      return differenceText(shown(high) - shown(low), of(metric), extraDecimals)
    },
    moment: timeMs => `${dateText(local, timeMs)}, ${local.text(timeMs * 1000).slice(11)}`,
    date: timeMs => dateText(local, timeMs),
    duration: seconds => inOneUnit(seconds),
    language: english,
  }
}

function withUnit(value: number, { unit, decimals }: Described, extraDecimals: number): string {
  const signed = decimalText(value, decimals + extraDecimals)
  if (unit === null || unit === '1') return signed
  return unit === '°' ? `${signed}°` : `${signed} ${unit}`
}

function differenceText(value: number, described: Described, extraDecimals: number): string {
  const isShare = described.unit === '%'
  return isShare
    ? pointsText(decimalText(value, described.decimals + extraDecimals))
    : withUnit(value, described, extraDecimals)
}

/** `23 Nov 2026` */
function dateText(local: Pick<LocalTime, 'text'>, timeMs: number): string {
  const [year = '', month = '', day = ''] = local
    .text(timeMs * 1000)
    .slice(0, 10)
    .split('-')
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`
}

/** Weather metrics have no level of their own. */
const ofWeather: readonly string[] = ['temperature', 'humidity', 'pressure']

/** A draining battery has another level every week, which its own finding reports. */
export function hasOwnLevel(metric: string, unit: string | null, profile: Profile): boolean {
  if (batteryMetricOf(metric, unit) !== undefined) return false
  return profile !== 'weather' || !ofWeather.includes(metric)
}

/** Plain data that can be posted between threads. */
export interface WordedFinding extends Finding {
  readonly text: string
}

/** Findings with their sentences, and in the form of an answer. */
export function wordedFinding(finding: Finding, words: FindingWords): WordedFinding {
  return { ...finding, text: findingText(finding, words) }
}

export function findingPart(
  { code, severity, metric, sinceMs, untilMs, value, expected, count, pattern, reason, text }: WordedFinding,
  local: Pick<LocalTime, 'text'>,
): FindingShape {
  const since = local.text(sinceMs * 1000)
  const until = untilMs === null ? null : local.text(untilMs * 1000)
  return { code, severity, metric, since, until, value, expected, count, pattern, reason, text }
}

export interface DeviceFinding extends Finding {
  readonly device: string
}

/** Returns the worst findings; `custom` has the metrics beside the five. */
export function fleetFindings(
  found: readonly DeviceFinding[],
  local: LocalTime,
  custom: Parameters<typeof serviceWords>[1] = [],
): { findings: FleetFinding[]; findings_total: number } {
  const words = serviceWords(local, custom)
  const all = rankFindings(found, Number.POSITIVE_INFINITY)
  const findings = rankFindings(all).map(({ device, ...finding }) => {
    return { device, ...findingPart(wordedFinding(finding, words), local) }
  })
  return { findings, findings_total: all.length }
}

export function outlierFindings(
  outliers: readonly Pick<OutlierInsight, 'device' | 'metric' | 'value' | 'median' | 'peers'>[],
  sinceMs: number,
): DeviceFinding[] {
  return outliers.map(({ device, metric, value, median, peers }) => {
    return {
      ...noDetails,
      device,
      code: 'drift',
      severity: 'warning',
      metric,
      sinceMs,
      value,
      expected: [median, median],
      count: peers,
    }
  })
}
