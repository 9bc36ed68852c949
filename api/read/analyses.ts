/** The analyses of devices: comparisons, details, statistics, days and like days. */

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Device } from '../../auth/devices/device.ts'
import { airMetrics } from '../../query/answers/units.ts'
import type { Answer } from '../../query/cache/body.ts'
import type { Query } from '../../query/query.ts'
import { Comparison } from '../../query/shapes/compare.ts'
import { DailySummary } from '../../query/shapes/daily.ts'
import { DeviceDetail } from '../../query/shapes/detail.ts'
import { PastDays } from '../../query/shapes/past.ts'
import { Stats } from '../../query/shapes/stats.ts'
import { metrics as columns } from '../../store/tables.ts'
import { disconnectSignalOf } from '../http/disconnect-signal.ts'
import { checkPart } from '../http/operation.ts'
import type { OperationGroup } from '../http/register-operations.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import {
  CompareParameters,
  DailyParameters,
  DetailParameters,
  PastParameters,
  StatsParameters,
} from './analysis-parameters.ts'
import { type AnalysedMetrics, absentMetric, comparedMetrics, furtherMetrics } from './further-metrics.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, sendAnswer } from './read-answers.ts'
import { DevicePath, jsonRead, type Read, readGroup } from './read-operation.ts'
import { deviceInPath, devicesInQuery } from './read-subjects.ts'

export interface AnalysesOptions {
  metrics: AnalysedMetrics
  query: Pick<Query, 'compare' | 'detail' | 'stats' | 'daily' | 'past' | 'coded'>
}

/** Of every query string. */
interface Named {
  metrics?: readonly string[] | undefined
}

type Analysis<About, Query> = Pick<Read<About>, 'path' | 'name' | 'summary' | 'description' | 'subject'> & {
  query?: z.ZodObject & z.ZodType<Query>
  answer: z.ZodType
  ask(about: About, parameters: Query, client: AbortSignal): Answer | Promise<Answer>
  /** Refuses what would be too large. */
  tooLarge?: 'TOO_LARGE' | 'TOO_MANY_DAYS'
}

const subject = deviceInPath('device')

/** Makes the operation of an analysis. */
function analysisOf(access: ReadAccess, { metrics, query }: AnalysesOptions) {
  return function analysis<About, Query>({
    query: shape,
    ask,
    tooLarge = 'TOO_LARGE',
    ...read
  }: Analysis<About, Query>) {
    return jsonRead<About>(access, {
      ...read,
      parameters: {
        ...(read.path.includes(':') ? { path: DevicePath } : {}),
        ...(shape === undefined ? {} : { query: shape }),
      },
      ignoresUnknown: true,
      refusals: ['DEVICE_UNKNOWN', tooLarge],
      handle(about, request: FastifyRequest, reply) {
        const checked = checkPart<Query>(shape, request.query)
        if (!checked.success) return refuse(reply, 'PARAMETER_INVALID', checked.error.issues[0]?.message)
        const devices = [about].flat() as Device[]
        const absent = absentMetric(metrics, devices, (checked.data as Named).metrics)
        if (absent !== undefined) return refuse(reply, 'PARAMETER_INVALID', `there is no metric ${absent} here`)
        const asked = ask(about, checked.data as Query, disconnectSignalOf(reply))
        return sendAnswer(request, reply, asked, query.coded, tooLarge)
      },
    })
  }
}

export function analysesGroup(access: ReadAccess, options: AnalysesOptions): OperationGroup<ReadOperation> {
  const { metrics, query } = options
  const analysis = analysisOf(access, options)
  const furtherOf = (device: Device, always: readonly string[], names: Named['metrics']) =>
    furtherMetrics(metrics, device, always, names)
  return readGroup(
    analysis({
      path: '/compare_data',
      name: 'compare_devices',
      summary: 'Two devices, hour by hour',
      subject: devicesInQuery('a', 'b'),
      query: CompareParameters,
      answer: Comparison.meta({ id: 'Comparison' }),
      ask([a, b], { preset, t, metrics: names }, client) {
        const further = comparedMetrics(metrics, [a as Device, b as Device], airMetrics, names)
        return query.compare(a as Device, b as Device, { preset, withTimes: t, further }, client)
      },
    }),
    analysis({
      path: '/detail_data/:device',
      name: 'read_detail',
      summary: 'The readings of the last 24 hours and the hours of 30 days',
      subject,
      query: DetailParameters,
      answer: DeviceDetail.meta({ id: 'DeviceDetail' }),
      ask(device, { points, t, flags, metrics: names }, client) {
        const further = furtherOf(device, columns, names)
        return query.detail(device, { points, withTimes: t, withFlags: flags, further }, client)
      },
    }),
    analysis({
      path: '/stats_data/:device',
      name: 'read_statistics',
      summary: 'The statistics of a device',
      description: 'Their definitions are at /docs/statistics.',
      subject,
      query: StatsParameters,
      answer: Stats.meta({ id: 'Statistics' }),
      tooLarge: 'TOO_MANY_DAYS',
      ask: (device, { days, step, metrics: names }, client) =>
        query.stats(device, { days, stepSeconds: step, further: furtherOf(device, columns, names) }, client),
    }),
    analysis({
      path: '/daily_summary/:device',
      name: 'read_daily_summary',
      summary: 'A device, day by day',
      subject,
      query: DailyParameters,
      answer: DailySummary.meta({ id: 'DailySummary' }),
      tooLarge: 'TOO_MANY_DAYS',
      ask: (device, { days, metrics: names }, client) =>
        query.daily(device, { days, further: furtherOf(device, airMetrics, names) }, client),
    }),
    analysis({
      path: '/past_window_data/:device',
      name: 'read_past_days',
      summary: 'Today, yesterday and the days 7, 30 and 365 days ago, hour by hour',
      subject,
      query: PastParameters,
      answer: PastDays.meta({ id: 'PastDays' }),
      ask: (device, { metrics: names }, client) =>
        query.past(device, { further: furtherOf(device, airMetrics, names) }, client),
    }),
  )
}
