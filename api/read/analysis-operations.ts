/** Declares the analyses of a device or a station as operations. The differences between the two are arguments. */

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { RejectedReadings } from '../../analytics/findings/from-quality.ts'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import { type AnalysisName, analyses, analysisOfName } from '../../query/analyses/analyses.ts'
import type { CustomHow } from '../../query/analyses/analysis.ts'
import type { Answer } from '../../query/cache/body.ts'
import type { CustomMetric } from '../../query/custom-metric.ts'
import type { Query } from '../../query/query.ts'
import { checkPart } from '../http/operation.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { disconnectSignalOf } from '../http/streamed-response.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, sendAnswer } from './read-access.ts'
import { jsonRead, type Read } from './read-operation.ts'

export interface Analysed<About> extends Pick<Read<About>, 'subject'> {
  readonly pathShape: z.ZodObject
  /** True if the given interface ignores unknown parameters. */
  readonly ignoresUnknown: boolean
  readonly unknown: 'DEVICE_UNKNOWN' | 'STATION_UNKNOWN'
  /** First name that is not a metric of the subject. */
  absent(about: About, names: readonly string[] | undefined): string | undefined
}

/** Adds the arguments of analyses of one subject. */
export interface AnalysedOne<About> extends Analysed<About> {
  /** Path of an analysis by its name, such as `detail_data`. */
  pathOf(analysis: string): string
  /** Name of the function in clients. */
  nameOf(title: string): string
  readonly noun: 'device' | 'station'
  device(about: About): AnalysedDevice
  /** Its refused readings, if reported. */
  rejected?(about: About): RejectedReadings | undefined
  /** The answer has the metrics in `always` in any case. */
  custom(about: About, always: readonly string[], names: readonly string[] | undefined): readonly CustomMetric[]
}

type Described<About> = Pick<Read<About>, 'path' | 'name' | 'summary' | 'description'>

export interface AnalysisOperation<About, Parameters> extends Described<About> {
  query: z.ZodObject & z.ZodType<Parameters>
  answer: z.ZodType
  ask(about: About, parameters: Parameters, client: AbortSignal): Answer | Promise<Answer>
  /** Names of metrics that the subject must have; by default the parameter `metrics`. */
  names?(parameters: Parameters): readonly string[] | undefined
  /** Error of the parameters beyond their forms. */
  fault?(about: About, parameters: Parameters): string | undefined
  /** Error for a request with too large an answer. */
  tooLarge?: 'TOO_LARGE' | 'TOO_MANY_DAYS'
}

/** Creates the operation of an analysis. */
export function analysisOf<About>(access: ReadAccess, query: Pick<Query, 'coded'>, analysed: Analysed<About>) {
  const { subject, pathShape, ignoresUnknown, unknown, absent } = analysed
  return function analysis<Parameters>({
    query: shape,
    ask,
    names = metricsIn,
    fault = () => undefined,
    tooLarge = 'TOO_LARGE',
    ...read
  }: AnalysisOperation<About, Parameters>): ReadOperation {
    return jsonRead<About>(access, {
      ...read,
      subject,
      parameters: { ...(read.path.includes(':') ? { path: pathShape } : {}), query: shape },
      ignoresUnknown,
      refusals: [unknown, tooLarge],
      handle(about, request: FastifyRequest, reply) {
        const checked = checkPart<Parameters>(shape, request.query)
        if (!checked.success) return refuse(reply, 'PARAMETER_INVALID', checked.error.issues[0]?.message)
        const parameters = checked.data as Parameters
        const name = absent(about, names(parameters))
        if (name !== undefined) return refuse(reply, 'PARAMETER_INVALID', `there is no metric ${name} here`)
        const wrong = fault(about, parameters)
        if (wrong !== undefined) return refuse(reply, 'PARAMETER_INVALID', wrong)
        const asked = ask(about, parameters, disconnectSignalOf(reply))
        return sendAnswer(request, reply, asked, query.coded, tooLarge)
      },
    })
  }
}

export type AnalysesQuery = Pick<Query, AnalysisName | 'coded'>

/** Analyses of one device or one station. */
export function analysesOfOne<About>(
  access: ReadAccess,
  query: AnalysesQuery,
  of: AnalysedOne<About>,
): readonly ReadOperation[] {
  return (Object.keys(analyses) as AnalysisName[]).map(name => operationOf(access, query, of, name))
}

function operationOf<About>(
  access: ReadAccess,
  query: AnalysesQuery,
  of: AnalysedOne<About>,
  name: AnalysisName,
): ReadOperation {
  const analysis = analysisOfName(name)
  const { path, title, summary, description, parameters, answer, tooLarge, always, how } = analysis
  const { names = metricsIn, select = () => true, fault = () => undefined } = analysis
  const customOf = (about: About, asked: unknown) => of.custom(about, always, names(asked)).filter(select)
  const ask = query[name] as (device: AnalysedDevice, how: CustomHow, client: AbortSignal) => ReturnType<Query['day']>
  return analysisOf(
    access,
    query,
    of,
  )({
    path: of.pathOf(path),
    name: of.nameOf(title),
    summary: summary(of.noun),
    ...(description !== undefined && { description }),
    query: parameters,
    answer,
    ...(tooLarge !== undefined && { tooLarge }),
    names,
    fault: (about, asked) => fault(customOf(about, asked)),
    ask(about, asked, client) {
      const options = { ...how(asked, { rejected: of.rejected?.(about) }), custom: customOf(about, asked) }
      return ask(of.device(about), options, client)
    },
  })
}

function metricsIn(parameters: unknown): readonly string[] | undefined {
  return (parameters as { metrics?: readonly string[] }).metrics
}
