/** What anybody may ask about devices beyond their readings: comparisons, details, statistics, days and like days. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Devices } from '../../auth/devices/devices.ts'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import type { Answer } from '../../query/cache/body.ts'
import type { Query } from '../../query/query.ts'
import { addCorsHeaders } from '../http/cors.ts'
import { leavingOf } from '../http/leaving.ts'
import {
  CompareParameters,
  DailyParameters,
  DetailParameters,
  NoParameters,
  StatsParameters,
} from './analysis-parameters.ts'
import type { LoggerErrorCode } from './errors.ts'
import { addRead, refuse, type Sent, sendAnswer } from './read-answers.ts'

export interface AnalysesOptions {
  query: Pick<Query, 'compare' | 'detail' | 'stats' | 'daily' | 'past' | 'coded'>
  devices: Pick<Devices, 'get'>
}

type AnyRequest = FastifyRequest<{ Params: { device: string } }>
type AnswerOrPromise = Answer | Promise<Answer>

export function registerAnalyses(app: FastifyInstance, { query, devices }: AnalysesOptions): void {
  function compare(request: FastifyRequest, reply: FastifyReply): Sent {
    const parameters = CompareParameters.safeParse(request.query)
    if (!parameters.success) return refuseParameters(reply, parameters.error)
    const { a: nameOfA, b: nameOfB, preset, t: withTimes } = parameters.data
    const [a, b] = [devices.get(nameOfA), devices.get(nameOfB)]
    if (a === undefined || b === undefined) return refuse(reply, 'DEVICE_UNKNOWN')
    return sendAnswer(request, reply, query.compare(a, b, { preset, withTimes }, leavingOf(reply)), query.coded)
  }

  /** The path of an analysis of one device, which `ask` asks for with what the query string says. */
  function addAnalysis<Parameters>(
    name: string,
    shape: z.ZodType<Parameters>,
    ask: (device: AnalysedDevice, parameters: Parameters, client: AbortSignal) => AnswerOrPromise,
    tooLarge?: LoggerErrorCode,
  ): void {
    addRead(app, `/${name}/:device`, (request: AnyRequest, reply) => {
      const device = devices.get(request.params.device)
      if (device === undefined) return refuse(reply, 'DEVICE_UNKNOWN')
      const parameters = shape.safeParse(request.query)
      if (!parameters.success) return refuseParameters(reply, parameters.error)
      return sendAnswer(request, reply, ask(device, parameters.data, leavingOf(reply)), query.coded, tooLarge)
    })
  }

  addCorsHeaders(app)
  addRead(app, '/compare_data', compare)
  addAnalysis('detail_data', DetailParameters, (device, { points, t, flags }, client) =>
    query.detail(device, { points, withTimes: t, withFlags: flags }, client),
  )
  addAnalysis(
    'stats_data',
    StatsParameters,
    (device, { days, step }, client) => query.stats(device, { days, stepSeconds: step }, client),
    'TOO_MANY_DAYS',
  )
  addAnalysis(
    'daily_summary',
    DailyParameters,
    (device, { days }, client) => query.daily(device, { days }, client),
    'TOO_MANY_DAYS',
  )
  addAnalysis('past_window_data', NoParameters, (device, _parameters, client) => query.past(device, client))
}

function refuseParameters(reply: FastifyReply, { issues }: z.ZodError): FastifyReply {
  return refuse(reply, 'PARAMETER_INVALID', issues[0]?.message)
}
