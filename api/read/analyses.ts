/** The analyses of devices: comparisons, details, statistics, days and like days. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import type { Answer } from '../../query/cache/body.ts'
import type { Query } from '../../query/query.ts'
import { addCorsHeaders } from '../http/cors.ts'
import { disconnectSignalOf } from '../http/disconnect-signal.ts'
import type { LoggerErrorCode } from '../http/status-errors.ts'
import {
  CompareParameters,
  DailyParameters,
  DetailParameters,
  NoParameters,
  StatsParameters,
} from './analysis-parameters.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, sendAnswer } from './read-answers.ts'
import { addRead } from './read-route.ts'
import { deviceInPath, devicesInQuery, type Subject } from './read-subjects.ts'

export interface AnalysesOptions {
  query: Pick<Query, 'compare' | 'detail' | 'stats' | 'daily' | 'past' | 'coded'>
}

interface Analysis<About, Parameters> {
  url: string
  subject: Subject<About>
  shape: z.ZodObject & z.ZodType<Parameters>
  ask(about: About, parameters: Parameters, client: AbortSignal): Answer | Promise<Answer>
  tooLarge?: LoggerErrorCode
}

export function registerAnalyses(app: FastifyInstance, access: ReadAccess, { query }: AnalysesOptions): void {
  function add<About, Parameters>({ url, subject, shape, ask, tooLarge }: Analysis<About, Parameters>): void {
    addRead(app, access, {
      ...{ url, subject, parameters: Object.keys(shape.shape), ignoresUnknown: true },
      handler(about, request: FastifyRequest, reply) {
        const parameters = shape.safeParse(request.query)
        if (!parameters.success) return refuseParameters(reply, parameters.error)
        return sendAnswer(request, reply, ask(about, parameters.data, disconnectSignalOf(reply)), query.coded, tooLarge)
      },
    })
  }

  addCorsHeaders(app)
  add({
    ...{ url: '/compare_data', subject: devicesInQuery('a', 'b'), shape: CompareParameters },
    ask([a, b], { preset, t }, client) {
      return query.compare(a as AnalysedDevice, b as AnalysedDevice, { preset, withTimes: t }, client)
    },
  })
  const subject = deviceInPath('device')
  add({
    ...{ url: '/detail_data/:device', subject, shape: DetailParameters },
    ask: (device, { points, t, flags }, client) =>
      query.detail(device, { points, withTimes: t, withFlags: flags }, client),
  })
  add({
    ...{ url: '/stats_data/:device', subject, shape: StatsParameters, tooLarge: 'TOO_MANY_DAYS' },
    ask: (device, { days, step }, client) => query.stats(device, { days, stepSeconds: step }, client),
  })
  add({
    ...{ url: '/daily_summary/:device', subject, shape: DailyParameters, tooLarge: 'TOO_MANY_DAYS' },
    ask: (device, { days }, client) => query.daily(device, { days }, client),
  })
  add({
    ...{ url: '/past_window_data/:device', subject, shape: NoParameters },
    ask: (device, _parameters, client) => query.past(device, client),
  })
}

function refuseParameters(reply: FastifyReply, { issues }: z.ZodError): FastifyReply {
  return refuse(reply, 'PARAMETER_INVALID', issues[0]?.message)
}
