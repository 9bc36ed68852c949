/** All anomalies of a device in the readings at hand: silence, and anomalies of each metric by its kind. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import type { Anomaly } from '../../analytics/findings/finding.ts'
import { longExcursions, newLevels, type UnusualGauge, unusualAnomalies } from '../../analytics/findings/from-gauges.ts'
import { absencesOf, longGaps, type MetricTimes } from '../../analytics/findings/from-reliability.ts'
import { qualityAnomalies } from '../../analytics/findings/quality-anomalies.ts'
import { presentOf, type Samples } from '../../analytics/present.ts'
import { checkQuality } from '../../analytics/quality/quality.ts'
import { type QualityLimits, withoutErrors } from '../../analytics/quality/quality-limits.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { findGaps, ongoingGap } from '../../analytics/reliability/gaps.ts'
import { bridgedHours } from '../../analytics/time/fill-gaps.ts'
import { binMeans, frameOf } from '../../analytics/time/grid.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { metrics as columns } from '../../store/tables.ts'
import { type AnalysedDevice, bandOfGoods, deviceLimits } from '../analysed-device.ts'
import { type CustomSamples, customLimits, judgedVane } from '../custom-metric.ts'
import { hasOwnLevel } from '../findings/words.ts'
import { type Series, units } from '../series.ts'
import { metricCadence } from './device-cadence.ts'
import { hourMs, localHoursOf } from './gauge-hours.ts'

interface AnomaliesRead {
  readonly device: AnalysedDevice
  readonly series: Series
  readonly samples: readonly CustomSamples[]
  readonly cadence: Cadence
  /** The reading before the series; undefined when it begins with the device's first. */
  readonly beforeMs: number | undefined
  /** An episode that lasts until here has not ended. */
  readonly endMs: number
  readonly local: LocalTime
}

export function anomaliesOf(read: AnomaliesRead): Anomaly[] {
  const { device, series, samples } = read
  const { timesMs, values } = series
  const ofFive = columns.flatMap(name => {
    const present = presentOf(timesMs, values[name])
    const limits = deviceLimits(device, name)
    return ofMetric({ name, unit: units[name], kind: 'gauge', samples: present, limits }, read)
  })
  const ofCustom = samples.flatMap(one => {
    const { name, kind, unit } = one.metric
    const vane = judgedVane(one, read.cadence)
    const metric = { name, kind, unit, samples: presentOf(one.timesMs, one.values), limits: customLimits(one.metric) }
    return [...ofMetric(metric, read), ...(vane === undefined ? [] : qualityAnomalies(vane, read.cadence.stretches))]
  })
  return [...outages(read), ...ofFive, ...ofCustom, ...excursions(read)]
}

function excursions({ device, series, cadence, endMs }: AnomaliesRead): Anomaly[] {
  const band = bandOfGoods(device)
  const samples = presentOf(series.timesMs, series.values.temperature)
  const [startMs] = samples.timesMs
  if (band === null || startMs === undefined) return []
  const expected = [band.below, band.above] as const
  return longExcursions(samples, cadence.stretches, { startMs, endMs }, band).map(one => {
    const { startMs, isOngoing, extreme: value } = one
    const endMs = isOngoing ? null : one.endMs
    return { code: 'excursion', metric: 'temperature', startMs, endMs, value, expected, count: null }
  })
}

function outages({ series: { timesMs }, cadence, beforeMs, endMs }: AnomaliesRead): Anomaly[] {
  const lastMs = timesMs.at(-1) ?? beforeMs
  const ongoing = lastMs === undefined ? null : ongoingGap(lastMs, endMs, cadence)
  const gaps = [...findGaps(timesMs, cadence, beforeMs), ...(ongoing === null ? [] : [ongoing])]
  return longGaps(gaps, cadence).map(({ start_ms: startMs, end_ms: endMs }) => {
    return { code: 'outage', metric: null, startMs, endMs, value: null, expected: null, count: null }
  })
}

interface ReadMetric extends Pick<MetricTimes, 'name' | 'kind'> {
  readonly unit: string | null
  readonly samples: Samples
  readonly limits: QualityLimits
}

function ofMetric(metric: ReadMetric, read: AnomaliesRead): Anomaly[] {
  const { name, kind, samples, limits } = metric
  const { cadence, series } = read
  const absences = absencesOf({ name, kind, timesMs: samples.timesMs }, cadence, series.timesMs)
  const missing = absences.map((absence): Anomaly => {
    return { code: 'silent_metric', metric: name, ...absence, value: null, expected: null, count: null }
  })
  if (kind !== 'gauge' || samples.timesMs.length === 0) return missing
  const { stretches } = metricCadence(samples.timesMs, cadence)
  const quality = checkQuality(samples.timesMs, samples.values, limits, stretches)
  const suspect = qualityAnomalies({ name, ...samples, marks: quality.marks, limits: quality.limits }, stretches)
  const hours = hoursOf(metric, quality.counts.quantum ?? 0, read)
  return [...missing, ...suspect, ...levels(metric, hours, read), ...unusual(metric, hours)]
}

function hoursOf({ name, samples: { timesMs, values } }: ReadMetric, quantum: number, { local }: AnomaliesRead) {
  const frame = frameOf(timesMs[0] as number, timesMs.at(-1) as number, hourMs)
  const localHours = localHoursOf({ startMs: frame.startMs, hours: frame.cells }, local)
  const hourly = bridgedHours(binMeans(timesMs, withoutErrors(values), frame))
  return { metric: name, hourly, localHours, startMs: frame.startMs, quantum }
}

function unusual({ name, unit }: ReadMetric, hours: UnusualGauge): Anomaly[] {
  return batteryMetricOf(name, unit) === undefined ? unusualAnomalies(hours) : []
}

function levels({ name: metric, unit }: ReadMetric, hours: UnusualGauge, { device }: AnomaliesRead): Anomaly[] {
  if (!hasOwnLevel(metric, unit, device.profile)) return []
  const found = newLevels(hours)
  return found.map(({ code, sinceMs, value, expected }, place) => {
    const endMs = found[place + 1]?.sinceMs ?? null
    return { code, metric, startMs: sinceMs, endMs, value, expected, count: null }
  })
}
