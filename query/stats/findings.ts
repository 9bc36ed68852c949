/** Tests of quality and findings about a device. Its silence is added on each request. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import { type Finding, rankFindings } from '../../analytics/findings/finding.ts'
import { excursionFinding, levelFinding, unusualFinding } from '../../analytics/findings/from-gauges.ts'
import {
  type CheckedMetric,
  qualityFindings,
  type RejectedReadings,
  rejectedFinding,
} from '../../analytics/findings/from-quality.ts'
import { type MetricTimes, outageFindings, silentMetricFindings } from '../../analytics/findings/from-reliability.ts'
import { presentOf } from '../../analytics/present.ts'
import { checkQuality, type Quality } from '../../analytics/quality/quality.ts'
import type { QualityLimits } from '../../analytics/quality/quality-limits.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { countBetween } from '../../analytics/reliability/coverage.ts'
import type { ReliabilityRecord } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { type AnalysedDevice, bandOfGoods, deviceLimits } from '../analysed-device.ts'
import { type CustomMetric, type CustomSamples, customLimits, judgedVane } from '../custom-metric.ts'
import { batteryFindings } from '../findings/known-battery.ts'
import { hasOwnLevel, serviceWords, type WordedFinding, wordedFinding } from '../findings/words.ts'
import type { Series } from '../series.ts'
import type { LastSeen } from './live.ts'
import { byMetric, hourlyGauges, type StatsWindow } from './window.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface FindingsInput {
  /** The last thirty days. */
  readonly series: Series
  readonly custom: readonly CustomSamples[]
  readonly seen: LastSeen
  readonly reliability: ReliabilityRecord
  readonly quality: WindowQuality
  readonly window: StatsWindow
  readonly device: Pick<AnalysedDevice, 'profile' | 'battery_type' | 'battery_cells' | 'altitude_m' | 'quality_limits'>
  readonly rejected: RejectedReadings | undefined
  readonly nowMs: number
  readonly local: LocalTime
}

/** Worst first. */
export function findingsOf(input: FindingsInput): WordedFinding[] {
  const { custom, seen, reliability, quality, nowMs, local } = input
  const { lastMs, cadence } = seen
  if (lastMs === null) return []
  const levels = levelFindings(input)
  const known = [
    ...quality.checked.flatMap(metric => qualityFindings(metric, cadence.stretches, nowMs)),
    ...vaneFindings(input, cadence),
    ...outageFindings(reliability, local, nowMs),
    ...silentMetricFindings(behindMetrics(input, lastMs), cadence, lastMs),
    ...levels,
    ...batteryFindings(input),
    ...excursionFindings(input),
    ...rejectedFindings(input),
  ]
  // The same hours have at most one finding.
  const found = [...known, ...unusualFindings(input).filter(one => !known.some(other => isOfSame(one, other)))]
  const words = serviceWords(
    local,
    custom.map(({ metric }) => metric),
  )
  return rankFindings(found).map(finding => wordedFinding(finding, words))
}

function isOfSame(one: Finding, other: Finding): boolean {
  const isBefore = (a: Finding, b: Finding) => a.untilMs !== null && a.untilMs < b.sinceMs
  return one.metric === other.metric && !isBefore(one, other) && !isBefore(other, one)
}

/** Batteries are excluded, because they never repeat the previous four weeks. */
function unusualFindings(input: FindingsInput): Finding[] {
  const { hourly, localHours } = input.window
  return gaugesOf(input).flatMap(({ name: metric, unit, hours, quantum }) => {
    if (batteryMetricOf(metric, unit) !== undefined) return []
    return unusualFinding({ metric, hourly: hours, localHours, startMs: hourly.frame.startMs, quantum }) ?? []
  })
}

/** Gauges with the resolution of each sensor. */
function gaugesOf(input: FindingsInput) {
  const quanta: Readonly<Record<string, { readonly quantum: number | null } | undefined>> = input.quality.counts
  return hourlyGauges(metrics, input).map(gauge => ({ ...gauge, quantum: quanta[gauge.name]?.quantum ?? 0 }))
}

const controlled: readonly AnalysedDevice['profile'][] = ['cold_chain', 'pharmacy', 'indoor']

function levelFindings(input: FindingsInput): Finding[] {
  const {
    window: { hourly, localHours },
    device: { profile },
  } = input
  const { startMs } = hourly.frame
  return gaugesOf(input).flatMap(({ name, unit, hours, quantum }) => {
    if (!hasOwnLevel(name, unit, profile)) return []
    const isControlled = controlled.includes(profile)
    return levelFinding({ metric: name, hourly: hours, localHours, startMs, quantum, isControlled }) ?? []
  })
}

function vaneFindings({ custom, nowMs }: FindingsInput, cadence: Cadence): Finding[] {
  return custom.flatMap(samples => {
    const vane = judgedVane(samples, cadence)
    return vane === undefined
      ? []
      : qualityFindings({ ...vane, range: null, flatMs: vane.limits.flatMs }, cadence.stretches, nowMs)
  })
}

function excursionFindings({ device, series, seen: { cadence }, nowMs }: FindingsInput): Finding[] {
  const band = bandOfGoods(device)
  if (band === null) return []
  const samples = presentOf(series.timesMs, series.values.temperature)
  return [excursionFinding({ name: 'temperature', ...samples }, cadence.stretches, nowMs, band) ?? []].flat()
}

function rejectedFindings({ rejected, series: { timesMs }, nowMs }: FindingsInput): Finding[] {
  const found = rejected && rejectedFinding(rejected, countBetween(timesMs, nowMs - dayMs, nowMs))
  return found === undefined ? [] : [found]
}

/** Metrics without a value for an hour; there are few. */
function behindMetrics({ series, custom, seen }: FindingsInput, lastMs: number): MetricTimes[] {
  const isBehind = (name: string) => {
    const last = (seen.metrics as Readonly<Record<string, LastSeen['metrics']['temperature']>>)[name]
    return last !== null && last !== undefined && last.time_ms < lastMs - hourMs
  }
  const ofColumns = metrics.filter(isBehind).map((name): MetricTimes => {
    return { name, kind: 'gauge', timesMs: presentOf(series.timesMs, series.values[name]).timesMs }
  })
  const ofCustom = custom
    .filter(({ metric }) => isBehind(metric.name))
    .map(({ metric: { name, kind }, timesMs, values }): MetricTimes => {
      return { name, kind, timesMs: presentOf(timesMs, values).timesMs }
    })
  return [...ofColumns, ...ofCustom]
}

export interface WindowQuality {
  readonly counts: Readonly<Record<Metric, Quality['counts']>>
  /** Metrics have the order of the counts. */
  readonly checked: readonly CheckedMetric[]
}

/** Quality of the five metrics and the custom gauges. */
export function qualityOf(window: StatsWindow, device: AnalysedDevice, custom: readonly CustomMetric[]): WindowQuality {
  const limitsOfCustom = new Map(custom.map(metric => [metric.name, customLimits(metric)]))
  const limitsOf = (name: string): QualityLimits => {
    const metric = metrics.find(metric => metric === name)
    return metric === undefined ? (limitsOfCustom.get(name) as QualityLimits) : deviceLimits(device, metric)
  }
  const { timesMs, cadence } = window
  const checked: CheckedMetric[] = []
  const counts = byMetric(window, ({ name, read: values }) => {
    const limits = limitsOf(name)
    const { marks, counts, limits: known } = checkQuality(timesMs, values, limits, cadence.stretches)
    const flatMs = counts.flat_hours === null ? null : counts.flat_hours * hourMs
    checked.push({ name, timesMs, values, marks, range: known.range, flatMs })
    return counts
  })
  return { counts, checked }
}
