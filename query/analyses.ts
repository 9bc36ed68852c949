/** The analyses of devices: which thread makes each, what its answer depends on, and how long that is good. */

import type { RejectedReadings } from '../analytics/findings/from-rejections.ts'
import { type AnalysedDevice, analysedDevice } from './analysed-device.ts'
import type { AnomaliesPage } from './answers/anomalies-answer.ts'
import type { ComparePreset } from './answers/compare-answer.ts'
import { type AskedWindow, asOfMs, newestUsOf } from './asked-window.ts'
import { type Answer, answerOf } from './cache/body.ts'
import type { Built, Serve } from './cache/response-cache.ts'
import type { FurtherMetric } from './further-metric.ts'
import type { QueryLimits } from './limits.ts'
import type { Station } from './points/station.ts'
import { allFromReadings } from './questdb/hourly-sql.ts'
import type { RunQuery } from './run-query.ts'
import type { NeededShards } from './shards/answering-shards.ts'
import { type DevicePlan, type ReadsPlan, stationShard } from './shards/device-reads.ts'
import type { AnalysisQueries, ComparedFurther, HoursQuery, InPlaces, LightQueries, RangeQuery } from './task.ts'
import type { UsRange } from './task-context.ts'

type Served = Answer | Promise<Answer>

/** Of each, `client` aborts when the client disconnects. */
export interface Analyses {
  /** Two devices side by side, hour by hour, up to the last reading. */
  compare(a: AnalysedDevice, b: AnalysedDevice, how: CompareHow, client: AbortSignal): Served
  /** The last day in full and the last month by the hour. */
  detail(device: AnalysedDevice, how: DetailHow, client: AbortSignal): Served
  /** Everything that can be said of a device; its age is of the second of the request. */
  stats(device: AnalysedDevice, how: StatsHow, client: AbortSignal): Served
  /** The last so many local days, today included unless the device has been silent since. */
  daily(device: AnalysedDevice, how: WindowHow, client: AbortSignal): Served
  /** Today, and four days like it. */
  past(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  /** When the level of each gauge has changed for good. */
  changes(device: AnalysedDevice, how: WindowHow, client: AbortSignal): Served
  /** Whether what each gauge shows is usual for the hour. */
  normal(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  /** The next 48 hours of each gauge. */
  forecast(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  /** Figures by what the device is for. */
  domain(device: AnalysedDevice, how: WindowHow, client: AbortSignal): Served
  /** When a gauge was beyond thresholds, in a range or in the last 7 days. */
  excursions(device: AnalysedDevice, how: ExcursionsHow, client: AbortSignal): Served
  /** What was unusual, in a window, page by page. */
  anomalies(device: AnalysedDevice, how: AnomaliesHow, client: AbortSignal): Served
  /** The newest point of each parameter of a station, of those of the month up to the newest of all. */
  stationLatest(station: AnalysedDevice, how: FurtherHow, client: AbortSignal): Served
  /** In which units the points of a range are. Read anew each time, so that it is true of what is read of the range next. */
  stationUnits(station: Station, range: UsRange, client: AbortSignal): Promise<Answer>
}

interface FurtherHow {
  /** Metrics beside those that the answer always has. */
  readonly further: readonly FurtherMetric[]
}

type AnomaliesHow = WindowHow & AnomaliesPage

interface ExcursionsHow extends FurtherHow {
  /** Undefined: the last 7 days. */
  readonly range: MsRange | undefined
  readonly metric: string
  readonly above: number | null
  readonly below: number | null
  readonly forSeconds: number
}

/** As of a moment. */
type MomentHow = FurtherHow & Pick<AskedWindow, 'endMs'>
type WindowHow = FurtherHow & AskedWindow

interface CompareHow extends Pick<AskedWindow, 'startMs' | 'endMs'> {
  /** Metrics beside those that the answer always has. */
  readonly further: readonly ComparedFurther[]
  /** Unless there is a start. */
  readonly preset: ComparePreset
  readonly withTimes: boolean
}

interface DetailHow extends MomentHow, Pick<AskedWindow, 'startMs'> {
  /** At most so many for each metric; undefined: all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  readonly withFlags: boolean
}

interface StatsHow extends WindowHow {
  /** Readings of the device that were refused. */
  readonly rejected?: RejectedReadings | undefined
  readonly stepSeconds: number | undefined
}

export interface AnalysesOptions {
  readonly runQuery: RunQuery<LightQueries>
  readonly runAnalysis: RunQuery<AnalysisQueries>
  readonly serve: Serve
  readonly now: () => number
  readonly revision: (deviceNumber: number) => number
  /** The same of a series of points. */
  readonly pointsRevision: (series: number) => number
  readonly plan: ReadsPlan
  readonly limits: QueryLimits
}

interface Analysis {
  readonly name: keyof Analyses
  readonly devices: readonly AnalysedDevice[]
  /** What was asked for beside the devices. */
  readonly how: object & Partial<Pick<AskedWindow, 'endMs'>>
  /** How long an answer without new readings holds; the query itself is of the full minute. */
  readonly untilMs?: number
  readonly maxAgeSeconds?: number
  readonly build: (nowMs: number, signal: AbortSignal) => Promise<Built>
  readonly client: AbortSignal
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const usualMaxAgeSeconds = 5
/** As far as excursions look back. */
const excursionsMs = 7 * 24 * hourMs
/** Longer ones take a thread that light queries would wait for. */
const lightDaysMax = 31

export function createAnalyses(options: AnalysesOptions): Analyses {
  const { runQuery, runAnalysis, now, plan, limits } = options
  /** Readings may be that far ahead of our clock. */
  const newestUs = () => (now() + limits.aheadMs) * 1000

  const planOf = createPlanOf(plan)
  const analyse = createAnalyse(options)

  return {
    compare(one, other, how, client) {
      const [a, b] = [analysedDevice(one), analysedDevice(other)]
      const build = (nowMs: number, signal: AbortSignal) => {
        const plans = { a: planOf(a), b: planOf(b) }
        const places = { a: plans.a.places, b: plans.b.places }
        const hourSources = { a: plans.a.hourSources, b: plans.b.hourSources }
        const asOf = { nowMs: asOfMs(how.endMs, nowMs), newestUs: newestUsOf(how.endMs, newestUs()) }
        const query = { a, b, ...how, ...asOf, places, hourSources }
        return runQuery('compare', query, bothNeeded(plans.a.needed, plans.b.needed), signal)
      }
      // It ends at the last reading; when there is none, at the hour.
      return analyse({ name: 'compare', devices: [a, b], how, untilMs: hourMs, build, client })
    },
    detail(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, ...reads } = planOf(device)
        return runQuery('detail', { device, ...how, nowMs: asOfMs(how.endMs, nowMs), ...reads }, needed, signal)
      }
      return analyse({ name: 'detail', devices: [device], how, build, client })
    },
    stats(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        const asOf = { nowMs: asOfMs(how.endMs, nowMs), newestUs: newestUsOf(how.endMs, newestUs()) }
        return runAnalysis('stats', { device, ...how, ...asOf, places }, needed, signal)
      }
      // The age in it goes on counting.
      return analyse({ name: 'stats', devices: [device], how, maxAgeSeconds: 0, build, client })
    },
    daily(one, how, client) {
      const device = analysedDevice(one)
      const build = async (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        const query = { device, ...how, nowMs: asOfMs(how.endMs, nowMs), places }
        const sinceMs = performance.now()
        const built = how.days > lightDaysMax ? undefined : await runQuery('daily', query, needed, signal)
        // A few days may still be too much for a light query, when the device reports every second.
        const isEnough = built !== undefined && !(built.ok && built.body === 'TOO_LARGE')
        return isEnough ? built : runAnalysis('daily', query, needed, signal, sinceMs)
      }
      return analyse({ name: 'daily', devices: [device], how, build, client })
    },
    past(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        return runQuery('past', { device, ...how, nowMs: asOfMs(how.endMs, nowMs), places }, needed, signal)
      }
      return analyse({ name: 'past', devices: [device], how, build, client })
    },
    ...hourAnalyses(options, analyse, planOf),
    ...rangeAnalyses(options, analyse, planOf),
    stationLatest(one, how, client) {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        return runQuery('stationLatest', { device, ...how, nowMs, newestUs: newestUs(), places }, needed, signal)
      }
      return analyse({ name: 'stationLatest', devices: [device], how, build, client })
    },
    async stationUnits(station, { fromUs, toUs }, client) {
      const built = await runQuery('stationUnits', { station, fromUs, toUs }, stationPlan.needed, client)
      return built.ok ? answerOf(built, 0, now()) : built
    },
  }
}

type Analyse = (analysis: Analysis) => Served
type PlanOf = (device: AnalysedDevice) => DevicePlan

function createPlanOf(plan: ReadsPlan): PlanOf {
  return ({ number, station }) => (station === undefined ? plan.ofDevice(number) : stationPlan)
}

function createAnalyse({ serve, now, revision, pointsRevision, limits }: AnalysesOptions): Analyse {
  return ({ name, devices, how, untilMs = minuteMs, build, client, ...rest }: Analysis): Served => {
    const nowMs = fullMinute(now())
    // What was is made once, until there are more readings.
    const untilNow = asOfMs(how.endMs, nowMs) < nowMs ? 'end' : Math.floor(now() / untilMs)
    const revisions = devices.flatMap(({ number, station }) => {
      return station === undefined ? revision(number) : station.series.map(one => pointsRevision(one.number))
    })
    return serve({
      // With all that the registry says, so that what was changed there shows at once.
      key: JSON.stringify([name, how, devices]),
      version: `${revisions.join()}@${untilNow}`,
      freshMs: Math.min(limits.staleMs, Math.max(limits.rebuildMs, ...devices.map(expectedMs))),
      staleMs: limits.staleMs,
      maxAgeSeconds: () => rest.maxAgeSeconds ?? usualMaxAgeSeconds,
      build: (askedAtMs, signal) => build(fullMinute(askedAtMs), signal),
      client,
    })
  }
}

/** Of whole hours, which the readings of the running one change little. */
function hourAnalyses(
  { runQuery, runAnalysis }: AnalysesOptions,
  analyse: Analyse,
  planOf: PlanOf,
): Pick<Analyses, 'changes' | 'normal' | 'forecast' | 'domain'> {
  function byHour<How extends MomentHow>(name: keyof Analyses, run: AskHours<How>) {
    return (one: AnalysedDevice, how: How, client: AbortSignal) => {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, ...reads } = planOf(device)
        return run({ device, ...how, nowMs: asOfMs(how.endMs, nowMs), ...reads }, needed, signal)
      }
      return analyse({ name, devices: [device], how, untilMs: hourMs, build, client })
    }
  }
  return {
    changes: byHour<WindowHow>('changes', (...asked) => runAnalysis('changes', ...asked)),
    normal: byHour<MomentHow>('normal', (...asked) => runQuery('normal', ...asked)),
    forecast: byHour<MomentHow>('forecast', (...asked) => runAnalysis('forecast', ...asked)),
    domain: byHour<WindowHow>('domain', (...asked) => runAnalysis('domain', ...asked)),
  }
}

/** Of all readings of a range. */
function rangeAnalyses(
  { runAnalysis }: AnalysesOptions,
  analyse: Analyse,
  planOf: PlanOf,
): Pick<Analyses, 'excursions' | 'anomalies'> {
  function inRange<How extends FurtherHow>(
    name: keyof Analyses,
    rangeAt: (how: How, nowMs: number) => MsRange,
    run: AskRange<How>,
  ) {
    return (one: AnalysedDevice, how: How, client: AbortSignal) => {
      const device = analysedDevice(one)
      const build = (nowMs: number, signal: AbortSignal) => {
        const { needed, places } = planOf(device)
        return run({ device, ...how, ...rangeAt(how, nowMs), nowMs, places }, needed, signal)
      }
      return analyse({ name, devices: [device], how, build, client })
    }
  }
  return {
    excursions: inRange<ExcursionsHow>('excursions', excursionsRange, (...asked) =>
      runAnalysis('excursions', ...asked),
    ),
    anomalies: inRange<AnomaliesHow>('anomalies', rangeOf, (...asked) => runAnalysis('anomalies', ...asked)),
  }
}

type MsRange = Pick<RangeQuery, 'startMs' | 'endMs'>

function excursionsRange({ range }: ExcursionsHow, nowMs: number): MsRange {
  const endMs = asOfMs(range?.endMs, nowMs)
  return { startMs: Math.min(range?.startMs ?? endMs - excursionsMs, endMs), endMs }
}

function rangeOf({ days, ...asked }: AskedWindow, nowMs: number): MsRange {
  const endMs = asOfMs(asked.endMs, nowMs)
  return { startMs: Math.min(asked.startMs ?? endMs - days * 24 * hourMs, endMs), endMs }
}

type AskRange<How> = (
  query: RangeQuery & Omit<How, 'startMs' | 'endMs'> & InPlaces,
  needed: NeededShards,
  signal: AbortSignal,
) => Promise<Built>
type AskHours<How> = (query: HoursQuery & How & InPlaces, needed: NeededShards, signal: AbortSignal) => Promise<Built>

/** Points are kept for ever. */
const stationPlan: DevicePlan = {
  places: [{ shard: stationShard, fromUs: Number.NEGATIVE_INFINITY, toUs: Number.POSITIVE_INFINITY }],
  hourSources: allFromReadings,
  needed: { shards: [stationShard], isEachRead: true },
}

function bothNeeded(a: NeededShards, b: NeededShards): NeededShards {
  return {
    shards: [...new Set([...a.shards, ...b.shards])],
    behind: [...new Set([...(a.behind ?? []), ...(b.behind ?? [])])],
    isEachRead: a.isEachRead && b.isEachRead,
  }
}

/** More seldom than a device reports, nothing new can be said of it. */
function expectedMs({ expected_interval_seconds }: AnalysedDevice): number {
  return (expected_interval_seconds ?? 0) * 1000
}

function fullMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs
}
