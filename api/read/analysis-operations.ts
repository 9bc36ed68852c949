/** Declares the analyses of a device or a station as operations. The differences between the two are arguments. */

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { outdoorMetric } from '../../analytics/domain/profile.ts'
import type { RejectedReadings } from '../../analytics/findings/from-rejections.ts'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import { airMetrics } from '../../query/answers/units.ts'
import type { Answer } from '../../query/cache/body.ts'
import type { CustomMetric } from '../../query/custom-metric.ts'
import type { Query } from '../../query/query.ts'
import { Anomalies } from '../../query/shapes/anomalies.ts'
import { LevelChanges } from '../../query/shapes/changes.ts'
import { DailySummary } from '../../query/shapes/daily.ts'
import { DeviceDetail } from '../../query/shapes/detail.ts'
import { DomainFigures } from '../../query/shapes/domain.ts'
import { Excursions } from '../../query/shapes/excursions.ts'
import { Forecast } from '../../query/shapes/forecast.ts'
import { NormalValues } from '../../query/shapes/normal.ts'
import { PastDays } from '../../query/shapes/past.ts'
import { Stats } from '../../query/shapes/stats.ts'
import { UnusualValues } from '../../query/shapes/unusual.ts'
import { metrics as columns } from '../../store/tables.ts'
import { checkPart } from '../http/operation.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { disconnectSignalOf } from '../http/streamed-response.ts'
import {
  AnomaliesParameters,
  ChangesParameters,
  DailyParameters,
  DetailParameters,
  DomainParameters,
  ExcursionsParameters,
  MomentParameters,
  StatsParameters,
  usualDays,
} from './analysis-parameters.ts'
import { msOf, windowOf } from './parameters.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, sendAnswer } from './read-answers.ts'
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
  nameOf(what: string): string
  readonly noun: 'device' | 'station'
  device(about: About): AnalysedDevice
  /** Its refused readings, if reported. */
  rejected?(about: About): RejectedReadings | undefined
  /** The answer has the metrics in `always` in any case. */
  custom(about: About, always: readonly string[], names: readonly string[] | undefined): readonly CustomMetric[]
}

interface Named {
  metrics?: readonly string[] | undefined
}

export type Analysis<About, Parameters> = Pick<Read<About>, 'path' | 'name' | 'summary' | 'description'> & {
  query?: z.ZodObject & z.ZodType<Parameters>
  answer: z.ZodType
  ask(about: About, parameters: Parameters, client: AbortSignal): Answer | Promise<Answer>
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
    fault = () => undefined,
    tooLarge = 'TOO_LARGE',
    ...read
  }: Analysis<About, Parameters>): ReadOperation {
    return jsonRead<About>(access, {
      ...read,
      subject,
      parameters: {
        ...(read.path.includes(':') ? { path: pathShape } : {}),
        ...(shape === undefined ? {} : { query: shape }),
      },
      ignoresUnknown,
      refusals: [unknown, tooLarge],
      handle(about, request: FastifyRequest, reply) {
        const checked = checkPart<Parameters>(shape, request.query)
        if (!checked.success) return refuse(reply, 'PARAMETER_INVALID', checked.error.issues[0]?.message)
        const name = absent(about, (checked.data as Named | undefined)?.metrics)
        if (name !== undefined) return refuse(reply, 'PARAMETER_INVALID', noMetric(name))
        const wrong = fault(about, checked.data as Parameters)
        if (wrong !== undefined) return refuse(reply, 'PARAMETER_INVALID', wrong)
        const asked = ask(about, checked.data as Parameters, disconnectSignalOf(reply))
        return sendAnswer(request, reply, asked, query.coded, tooLarge)
      },
    })
  }
}

function noMetric(name: string): string {
  return `there is no metric ${name} here`
}

export type AnalysesQuery = Pick<
  Query,
  | 'detail'
  | 'stats'
  | 'daily'
  | 'past'
  | 'changes'
  | 'normal'
  | 'unusual'
  | 'forecast'
  | 'domain'
  | 'excursions'
  | 'anomalies'
  | 'coded'
>

/** Analyses of one device or one station. */
export function analysesOfOne<About>(
  access: ReadAccess,
  query: AnalysesQuery,
  of: AnalysedOne<About>,
): readonly ReadOperation[] {
  const analysis = analysisOf(access, query, of)
  const { device, custom, noun, pathOf, nameOf } = of
  return [
    analysis({
      path: pathOf('detail_data'),
      name: nameOf('detail'),
      summary: 'The readings of the last 24 hours and the hours of 30 days',
      query: DetailParameters,
      answer: DeviceDetail.meta({ id: 'DeviceDetail' }),
      ask(about, { points, start, end, t, flags, metrics: names }, client) {
        const range = { startMs: msOf(start), endMs: msOf(end) }
        const how = { ...range, points, withTimes: t, withFlags: flags, custom: custom(about, columns, names) }
        return query.detail(device(about), how, client)
      },
    }),
    analysis({
      path: pathOf('stats_data'),
      name: nameOf('statistics'),
      summary: `The statistics of a ${noun}`,
      description: 'Their definitions are at /docs/statistics.',
      query: StatsParameters,
      answer: Stats.meta({ id: 'Statistics' }),
      tooLarge: 'TOO_MANY_DAYS',
      ask(about, { step, metrics: names, ...asked }, client) {
        // Refusals are known for the present only.
        const rejected = asked.end === undefined ? of.rejected?.(about) : undefined
        const window = windowOf(asked, usualDays.stats)
        const how = { ...window, stepSeconds: step, rejected, custom: custom(about, columns, names) }
        return query.stats(device(about), how, client)
      },
    }),
    analysis({
      path: pathOf('daily_summary'),
      name: nameOf('daily_summary'),
      summary: `A ${noun}, day by day`,
      query: DailyParameters,
      answer: DailySummary.meta({ id: 'DailySummary' }),
      tooLarge: 'TOO_MANY_DAYS',
      ask(about, { metrics: names, ...asked }, client) {
        const how = { ...windowOf(asked, usualDays.daily), custom: custom(about, airMetrics, names) }
        return query.daily(device(about), how, client)
      },
    }),
    analysis({
      path: pathOf('past_window_data'),
      name: nameOf('past_days'),
      summary: 'Today, yesterday and the days 7, 30 and 365 days ago, hour by hour',
      description: 'With end, today is the day before that moment.',
      query: MomentParameters,
      answer: PastDays.meta({ id: 'PastDays' }),
      ask: (about, { end, metrics: names }, client) =>
        query.past(device(about), { endMs: msOf(end), custom: custom(about, airMetrics, names) }, client),
    }),
    ...gaugesOf(access, query, of),
    analysis({
      path: pathOf('domain'),
      name: nameOf('domain_figures'),
      summary: `Figures for the domain of the ${noun}`,
      description: 'Domain of its profile; local days. Their definitions are at /docs/statistics.',
      query: DomainParameters,
      answer: DomainFigures.meta({ id: 'DomainFigures' }),
      ask(about, asked, client) {
        const outdoors = custom(about, columns, undefined).filter(({ name }) => name === outdoorMetric)
        return query.domain(device(about), { ...windowOf(asked, usualDays.domain), custom: outdoors }, client)
      },
    }),
    excursionsOf(access, query, of),
    anomaliesOf(access, query, of),
  ]
}

/** Analyses gauges by their hours. */
function gaugesOf<About>(access: ReadAccess, query: AnalysesQuery, of: AnalysedOne<About>): ReadOperation[] {
  const analysis = analysisOf(access, query, of)
  const { device, custom, pathOf, nameOf } = of
  return [
    analysis({
      path: pathOf('changes'),
      name: nameOf('level_changes'),
      summary: 'Lasting changes of the level of each gauge',
      description: 'Local days up to yesterday. The definition is at /docs/statistics.',
      query: ChangesParameters,
      answer: LevelChanges.meta({ id: 'LevelChanges' }),
      ask(about, { metrics: names, ...asked }, client) {
        const how = { ...windowOf(asked, usualDays.changes), custom: custom(about, columns, names) }
        return query.changes(device(about), how, client)
      },
    }),
    analysis({
      path: pathOf('normal'),
      name: nameOf('normal_values'),
      summary: 'Whether each gauge is usual for the hour of day',
      query: MomentParameters,
      answer: NormalValues.meta({ id: 'NormalValues' }),
      ask: (about, { end, metrics: names }, client) =>
        query.normal(device(about), { endMs: msOf(end), custom: custom(about, columns, names) }, client),
    }),
    analysis({
      path: pathOf('unusual'),
      name: nameOf('unusual_values'),
      summary: 'Whether each gauge behaves as in its own four weeks before, and its usual band',
      query: MomentParameters,
      answer: UnusualValues.meta({ id: 'UnusualValues' }),
      ask: (about, { end, metrics: names }, client) =>
        query.unusual(device(about), { endMs: msOf(end), custom: custom(about, columns, names) }, client),
    }),
    analysis({
      path: pathOf('forecast'),
      name: nameOf('forecast'),
      summary: 'The next 48 hours of each gauge, with intervals of 80 and 95 %',
      query: MomentParameters,
      answer: Forecast.meta({ id: 'Forecast' }),
      ask: (about, { end, metrics: names }, client) =>
        query.forecast(device(about), { endMs: msOf(end), custom: custom(about, columns, names) }, client),
    }),
  ]
}

function excursionsOf<About>(access: ReadAccess, query: AnalysesQuery, of: AnalysedOne<About>): ReadOperation {
  const { device, custom, absent, pathOf, nameOf } = of
  return analysisOf(
    access,
    query,
    of,
  )({
    path: pathOf('excursions'),
    name: nameOf('excursions'),
    summary: 'When a gauge was beyond a threshold, for how long and how far',
    query: ExcursionsParameters,
    answer: Excursions.meta({ id: 'Excursions' }),
    fault(about, { metric }) {
      if (absent(about, [metric]) !== undefined) return noMetric(metric)
      const [known] = custom(about, columns, [metric])
      return known === undefined || known.kind === 'gauge' ? undefined : `${metric} is not a gauge`
    },
    ask(about, { metric, above = null, below = null, for: forSeconds, start, end }, client) {
      const range = start === undefined || end === undefined ? undefined : { startMs: start / 1000, endMs: end / 1000 }
      const how = { metric, above, below, forSeconds, range, custom: custom(about, columns, [metric]) }
      return query.excursions(device(about), how, client)
    },
  })
}

function anomaliesOf<About>(access: ReadAccess, query: AnalysesQuery, of: AnalysedOne<About>): ReadOperation {
  const { device, custom, pathOf, nameOf } = of
  return analysisOf(
    access,
    query,
    of,
  )({
    path: pathOf('anomalies'),
    name: nameOf('anomalies'),
    summary: 'Suspect readings, outages and changes of level, episode by episode',
    description: 'Newest first, page by page. The definition is at /docs/statistics.',
    query: AnomaliesParameters,
    answer: Anomalies.meta({ id: 'AnomalyPage' }),
    ask(about, { limit, after, metrics: names, ...asked }, client) {
      const how = { ...windowOf(asked, usualDays.anomalies), limit, after, custom: custom(about, columns, names) }
      return query.anomalies(device(about), how, client)
    },
  })
}
