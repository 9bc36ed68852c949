/** `anomalies`: suspect readings, outages and changes of level of a device, episode by episode, newest first. */

import { z } from 'zod'
import { type Anomaly, type AnomalyKey, inOrder } from '../../analytics/findings/finding.ts'
import { findingText } from '../../analytics/findings/finding-text.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { metrics as columns } from '../../store/tables.ts'
import { type CustomMetric, descriptionsOf } from '../custom-metric.ts'
import { serviceWords } from '../findings/words.ts'
import { checkValuesCount, customSamples } from '../kinds/custom-samples.ts'
import { Anomalies, AnomalyId, type Anomaly as AnomalyShape, anomaliesMax } from '../shapes/anomalies.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type AskedWindow, type CustomHow, defineAnalysis, rangeOf } from './analysis.ts'
import { anomaliesOf } from './anomalies-found.ts'
import { answerContext } from './answer-text.ts'
import { deviceCadence, earlierTimes } from './device-cadence.ts'
import { checkWindow, MetricNames, parameter, published, wholeNumber, windowFields, windowOf } from './parameters.ts'

const daysUsual = 30
const afterInvalid = 'after must be next of an answer'

export const anomaliesAnalysis = defineAnalysis({
  path: 'anomalies',
  title: 'anomalies',
  summary: () => 'Suspect readings, outages and changes of level, episode by episode',
  description: 'Newest first, page by page. The definition is at /docs/statistics.',
  parameters: z
    .object({
      ...windowFields(1, daysUsual),
      limit: wholeNumber('limit', 1, anomaliesMax).default(100),
      after: parameter(afterInvalid)
        .refine(text => AnomalyId.safeParse(text).success, afterInvalid)
        .optional()
        .meta(published({ type: 'string', description: 'next of the previous page' })),
      metrics: MetricNames,
    })
    .superRefine(checkWindow),
  answer: Anomalies.meta({ id: 'AnomalyPage' }),
  always: columns,
  how: ({ limit, after, ...asked }) => ({ ...windowOf(asked, daysUsual), limit, after }),
  pools: ['long'],
  compute: (query: AnomaliesHow & Asked, context) =>
    answerAnomalies({ ...query, ...rangeOf(query), nowMs: query.clockMs }, context),
})

type AnomaliesHow = CustomHow & AskedWindow & AnomaliesPage

interface AnomaliesQuery extends Pick<Asked, 'device' | 'nowMs'>, CustomHow, AnomaliesPage {
  readonly startMs: number
  /** The end is not part of the range, and not after now. */
  readonly endMs: number
}

const usualMs = 30 * 86_400_000

async function answerAnomalies(query: AnomaliesQuery, context: TaskContext): Promise<string> {
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
  checkValuesCount(series, custom.length, rowsMax)
  const cadence = deviceCadence(device, earlierMs, series.timesMs)
  const beforeMs = beforeUs === undefined ? undefined : beforeUs / 1000
  const found = anomaliesOf({ device, series, samples, cadence, beforeMs, endMs, local })
  return buildAnomalies({ device: device.name, startMs, endMs, found, after, limit, custom, nowMs, local })
}

interface AnomaliesPage {
  /** The page begins after this id; undefined for the first page. */
  readonly after: string | undefined
  readonly limit: number
}

interface AnomaliesInput extends AnomaliesPage {
  readonly device: string
  readonly startMs: number
  /** The end is not part of the range, and not after now. */
  readonly endMs: number
  /** Anomalies may have any order. Those outside the range are left out. */
  readonly found: readonly Anomaly[]
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
  readonly local: LocalTime
}

/** The anomalies of a device: a page of episodes, newest first. */
export function buildAnomalies(input: AnomaliesInput): string {
  const { device, startMs, endMs, after, limit, custom, nowMs, local } = input
  const all = input.found.filter(one => one.startMs < endMs && (one.endMs ?? endMs) >= startMs).sort(inOrder)
  const last = after === undefined ? undefined : keyOf(after)
  const from = last === undefined ? 0 : all.findIndex(one => inOrder(one, last) > 0)
  const rest = from < 0 ? [] : all.slice(from, from + limit)
  const isLast = from < 0 || from + limit >= all.length
  return JSON.stringify({
    device,
    ...answerContext(local, nowMs),
    start: local.text(startMs * 1000),
    end: local.text(endMs * 1000),
    anomalies: anomalyParts(rest, custom, local),
    anomalies_total: all.length,
    next: isLast ? null : idOf(rest.at(-1) as Anomaly),
    ...(custom.length === 0 ? {} : { metrics: descriptionsOf(custom) }),
  } satisfies Anomalies)
}

function anomalyParts(some: readonly Anomaly[], custom: readonly CustomMetric[], local: LocalTime): AnomalyShape[] {
  const words = serviceWords(local, custom)
  return some.map(one => {
    const { code, metric, startMs, endMs, value, valueMs, expected, count } = one
    const about = { code, metric, value, expected, sinceMs: valueMs ?? startMs, untilMs: endMs }
    return {
      id: idOf(one),
      code,
      metric,
      start: local.text(startMs * 1000),
      end: endMs === null ? null : local.text(endMs * 1000),
      value,
      value_at: valueMs === undefined ? null : local.text(valueMs * 1000),
      expected,
      count,
      // In a finding, the count would be the number of its episodes.
      reason: findingText({ ...about, count: null, pattern: null, reason: null }, words),
    }
  })
}

function idOf({ startMs, code, metric }: AnomalyKey): string {
  return [startMs, code, metric ?? ''].join('.')
}

/** Parses any text of an id's form: an anomaly of any code may have been the last one. */
function keyOf(id: string): AnomalyKey {
  const [startMs, code, metric] = id.split('.')
  return { startMs: Number(startMs), code: code as AnomalyKey['code'], metric: metric || null }
}
