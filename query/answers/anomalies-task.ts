/**
 * Fetches for `anomalies`: the readings of the range, and of at least 30 days up to its end, which define the usual
 * values.
 */

import { metrics as columns } from '../../store/tables.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import { QueryFailed } from '../query-failed.ts'
import type { AnomaliesQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildAnomalies } from './anomalies-answer.ts'
import { anomaliesOf } from './anomalies-found.ts'
import { deviceCadence, earlierTimes } from './device-cadence.ts'

const usualMs = 30 * 86_400_000

export async function answerAnomalies(query: AnomaliesQuery, context: TaskContext): Promise<string> {
  const { device, custom: asked, startMs, endMs, nowMs, after, limit } = query
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const afterUs = Math.min(startMs, endMs - usualMs) * 1000 - 1
  const throughUs = endMs * 1000 - 1
  const custom = await context.inUnits(asked, [{ fromUs: afterUs + 1, toUs: throughUs + 1 }])
  const [series, earlierMs, beforeUs] = await Promise.all([
    source.series({ symbol, afterUs, throughUs, rowsMax }, signal),
    earlierTimes(device, afterUs, context),
    source.newestUs(symbol, afterUs, signal),
  ])
  const samples = await customSamples(custom, { afterUs, throughUs }, series, context)
  // Custom metrics may have as many numbers as the readings themselves.
  if (series.timesMs.length * custom.length > rowsMax * columns.length) {
    throw new QueryFailed(
      'TOO_LARGE',
      `${custom.length} metrics of ${series.timesMs.length} readings exceed the limit of values`,
    )
  }
  const cadence = deviceCadence(device, earlierMs, series.timesMs)
  const beforeMs = beforeUs === undefined ? undefined : beforeUs / 1000
  const found = anomaliesOf({ device, series, samples, cadence, beforeMs, endMs, local })
  return buildAnomalies({ device: device.name, startMs, endMs, found, after, limit, custom, nowMs, local })
}
