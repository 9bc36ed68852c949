/** `stats_data`: all statistics of a device. Its age is computed at the second of the request. */

import { z } from 'zod'
import type { RejectedReadings } from '../../analytics/findings/from-quality.ts'
import { gridStepsSeconds } from '../../analytics/time/grid.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { metrics as columns } from '../../store/tables.ts'
import { type ResponseTemplate, templateOf } from '../cache/response-template.ts'
import { checkValuesCount, customSamples } from '../kinds/custom-samples.ts'
import { Stats } from '../shapes/stats.ts'
import { liveText, type StatsLive } from '../stats/live.ts'
import { buildStats, statsAfterMs } from '../stats/stats-answer.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type AskedWindow, type CustomHow, defineAnalysis } from './analysis.ts'
import { checkWindow, MetricNames, parameter, published, windowFields, windowOf } from './parameters.ts'

const daysUsual = 30
const stepInvalid = `step must be one of ${gridStepsSeconds.join(', ')} seconds`
const step = parameter(stepInvalid)
  .refine(text => gridStepsSeconds.some(seconds => String(seconds) === text), stepInvalid)
  .transform(Number)
  .meta(published({ type: 'integer', enum: gridStepsSeconds }))

interface StatsHow extends CustomHow, AskedWindow {
  /** Undefined while unknown. */
  readonly rejected?: RejectedReadings | undefined
  /** The grid's step; by default from the readings. */
  readonly stepSeconds: number | undefined
}

export const statsAnalysis = defineAnalysis({
  path: 'stats_data',
  title: 'statistics',
  summary: noun => `The statistics of a ${noun}`,
  description: 'Their definitions are at /docs/statistics.',
  parameters: z
    .object({ ...windowFields(1, daysUsual), step: step.optional(), metrics: MetricNames })
    .superRefine(checkWindow),
  answer: Stats.meta({ id: 'Statistics' }),
  tooLarge: 'TOO_MANY_DAYS',
  always: columns,
  how: ({ step: stepSeconds, ...asked }, { rejected }) => ({
    ...windowOf(asked, daysUsual),
    stepSeconds,
    // Refusals are known for the present only.
    rejected: asked.end === undefined ? rejected : undefined,
  }),
  pools: ['long'],
  // Its age goes on counting.
  maxAgeSeconds: 0,
  compute: (query: StatsHow & Asked, context) => answerStats(query, context),
})

async function answerStats(
  {
    device,
    days,
    startMs,
    endMs,
    stepSeconds,
    rejected,
    nowMs,
    newestUs,
    ...query
  }: StatsHow & Omit<Asked, 'clockMs' | 'hourSources'>,
  context: TaskContext,
): Promise<string | ResponseTemplate<StatsLive>> {
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const lastUs = await source.newestUs(symbol, newestUs, signal)
  const throughUs = lastUs ?? newestUs
  const afterUs = Math.round(statsAfterMs(throughUs / 1000, nowMs, days) * 1000)
  const metrics = await context.inUnits(query.custom, [{ fromUs: afterUs + 1, toUs: throughUs + 1 }])
  const [series, beforeUs] = await Promise.all([
    source.series({ symbol, afterUs, throughUs, rowsMax }, signal),
    lastUs === undefined ? undefined : source.newestUs(symbol, afterUs, signal),
  ])
  const custom = await customSamples(metrics, { afterUs, throughUs }, series, context)
  checkValuesCount(series, metrics.length, rowsMax)
  const predecessorMs = beforeUs === undefined ? undefined : beforeUs / 1000
  const { head, live, tail } = buildStats({
    device,
    nowMs,
    local,
    days,
    startMs,
    stepSeconds,
    series,
    custom,
    predecessorMs,
    rejected,
  })
  detachBuffers([series.timesMs, ...Object.values(series.values)])
  return endMs === undefined ? templateOf(head, tail, live) : head + liveText(live, nowMs, local) + tail
}
