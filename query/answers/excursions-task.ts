/** Fetches for `excursions`: the values of one metric in the range and before it, and the times before that for the cadence. */

import { presentOf, type Samples } from '../../analytics/present.ts'
import { metrics as columns } from '../../store/tables.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import { metricCadence } from '../kinds/metric-cadence.ts'
import type { ExcursionsQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { deviceCadence, earlierTimes } from './device-cadence.ts'
import { buildExcursions } from './excursions-answer.ts'
import { units } from './units.ts'

/** Alert previews look back as far: an excursion that began before the range may have lasted long enough. */
const leadMs = 86_400_000

export async function answerExcursions(query: ExcursionsQuery, context: TaskContext): Promise<string> {
  const { device, metric, custom: asked, nowMs, ...range } = query
  const { source, local, signal, rowsMax } = context
  const afterUs = (range.startMs - leadMs - 2000 * range.forSeconds) * 1000 - 1
  const throughUs = range.endMs * 1000 - 1
  // Units are read first, because a later read of a station uses them.
  const custom = await context.inUnits(asked, [{ fromUs: afterUs + 1, toUs: throughUs + 1 }])
  const [series, earlierMs] = await Promise.all([
    source.series({ symbol: device.symbol, afterUs, throughUs, rowsMax }, signal),
    earlierTimes(device, afterUs, context),
  ])
  const ofDevice = deviceCadence(device, earlierMs, series.timesMs)
  const [other] = await customSamples(custom, { afterUs, throughUs }, series, context)
  const column = columns.find(name => name === metric)
  const values = other ?? (column === undefined ? nothing : { timesMs: series.timesMs, values: series.values[column] })
  const samples = presentOf(values.timesMs, values.values)
  const { stretches: gaps } = other === undefined ? ofDevice : metricCadence(samples.timesMs, ofDevice)
  const unit = other === undefined ? (column === undefined ? null : units[column]) : other.metric.unit
  return buildExcursions({ device: device.name, metric, unit, samples, gaps, ...range, nowMs, local })
}

const nothing: Samples = { timesMs: new Float64Array(0), values: new Float64Array(0) }
