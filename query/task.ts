/** Messages between the main thread and a worker: plain data that can be posted. */

import type { MessagePort } from 'node:worker_threads'
import type { RejectedReadings } from '../analytics/findings/from-rejections.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import type { AnalysedDevice } from './analysed-device.ts'
import type { AnomaliesPage } from './answers/anomalies-answer.ts'
import type { ComparePreset } from './answers/compare-answer.ts'
import type { AskedWindow } from './asked-window.ts'
import type { EncodedBody } from './cache/encode-body.ts'
import type { ResponseTemplate } from './cache/response-template.ts'
import type { CustomMetric } from './custom-metric.ts'
import type { FleetKnown } from './insights-fleet.ts'
import type { Station } from './points/station.ts'
import type { FailureCode } from './query-failed.ts'
import type { HourSources } from './questdb/hourly-sql.ts'
import type { StatsLive } from './stats/live.ts'

interface QuestdbTimeouts {
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
}

export interface QuestdbSettings extends QuestdbTimeouts {
  readonly questdb: QuestdbAddress
}

/** Given to a worker once, when it starts. */
export interface WorkerSettings extends QuestdbTimeouts {
  /** The first one has the number 1. */
  readonly replicas: readonly QuestdbAddress[]
  readonly timeZone: string
  /** Upper bound of the length of a body. */
  readonly bodyBytesMax: number
  /** The most readings of an analysis. */
  readonly rowsMax: number
}

/** A worker signals at `control` that it has begun, and receives the request to stop there. */
export type Task<Query> = Query & {
  readonly control: MessagePort
  /** The number of the replica that is read. */
  readonly replica: number
}

export interface LatestQuery {
  /** The fleet as `encodeFleet` wrote it. */
  readonly fleet: string
  /** The fleet is only some of the active devices, so that QuestDB should read only theirs. */
  readonly narrowed: boolean
  readonly nowUs: number
  readonly startUs: number
  readonly endUs: number
}

export interface DayQuery {
  readonly symbol: string
  readonly startUs: number
  readonly endUs: number
}

/** A metric with the places of its values in both devices. */
export interface ComparedCustom {
  readonly a: CustomMetric
  readonly b: CustomMetric
}

export interface CompareQuery extends Pick<AskedWindow, 'startMs' | 'endMs'> {
  readonly a: AnalysedDevice
  readonly b: AnalysedDevice
  readonly custom: readonly ComparedCustom[]
  /** Used unless there is a start. */
  readonly preset: ComparePreset
  readonly withTimes: boolean
  readonly nowMs: number
  /** Readings are never later; some are a little ahead of our clock. */
  readonly newestUs: number
  readonly hourSources: HourSources
}

/** With an end, `nowMs` is the end. */
export interface DetailQuery extends Pick<AskedWindow, 'startMs' | 'endMs'> {
  readonly device: AnalysedDevice
  /** The most points for each metric; undefined for all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  readonly withFlags: boolean
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
  readonly hourSources: HourSources
}

export interface StatsQuery extends AskedWindow {
  readonly device: AnalysedDevice
  /** Undefined while unknown. */
  readonly rejected?: RejectedReadings | undefined
  /** The grid's step; by default from the readings. */
  readonly stepSeconds: number | undefined
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
  readonly newestUs: number
}

export interface DailyQuery extends AskedWindow {
  readonly device: AnalysedDevice
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
}

export interface PastQuery extends Pick<AskedWindow, 'endMs'> {
  readonly device: AnalysedDevice
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
}

export interface HoursQuery extends Pick<AskedWindow, 'endMs'> {
  readonly device: AnalysedDevice
  readonly custom: readonly CustomMetric[]
  readonly hourSources: HourSources
  readonly nowMs: number
}

export type ChangesQuery = HoursQuery & AskedWindow

export interface DomainQuery extends HoursQuery, AskedWindow {
  /** Contains the outdoor temperature where the device measures it. */
  readonly custom: readonly CustomMetric[]
}

export interface RangeQuery {
  readonly device: AnalysedDevice
  readonly custom: readonly CustomMetric[]
  readonly startMs: number
  /** Not included, and not later than now. */
  readonly endMs: number
  readonly nowMs: number
}

/** `custom` contains the metric, unless it is a column of the readings. */
export interface ExcursionsQuery extends RangeQuery {
  readonly metric: string
  readonly above: number | null
  readonly below: number | null
  readonly forSeconds: number
}

export interface AnomaliesQuery extends RangeQuery, AnomaliesPage {}

export interface StationLatestQuery {
  readonly device: AnalysedDevice
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
  readonly newestUs: number
}

export interface StationUnitsQuery {
  readonly station: Station
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

export interface InsightsQuery {
  /** The fleet as `encodeInsightsFleet` wrote it. */
  readonly fleet: string
  readonly known: FleetKnown
  /** Only the rows of these devices are read. */
  readonly narrowed: boolean
  readonly nowUs: number
  readonly hourSources: HourSources
}

interface FleetLastQuery {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

interface FleetCustomQuery {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
  /** Undefined for all. */
  readonly series: readonly number[] | undefined
}

interface FleetHourQuery {
  readonly fromUs: number
  /** The hourly view has the whole hour. */
  readonly isInView: boolean
}

/** A device that is looked up by itself. */
type FleetDevice = Pick<AnalysedDevice, 'number' | 'symbol' | 'expected_interval_seconds'>

interface FleetDevicesQuery {
  readonly devices: readonly FleetDevice[]
  readonly nowUs: number
  readonly newestUs: number
  /** The most newest readings of each device to look at. */
  readonly timesMax: number
}

/** Parts of the initial state of the fleet. Each is returned as packed rows. */
export interface FleetQueries {
  readonly fleetLast: FleetLastQuery
  readonly fleetCustom: FleetCustomQuery
  readonly fleetHour: FleetHourQuery
  readonly fleetDevices: FleetDevicesQuery
}

/** Names and parameters of the queries of the light pool. */
export interface LightQueries extends Omit<FleetQueries, 'fleetDevices'> {
  readonly fleetDevices: FleetDevicesQuery & { readonly hourSources: HourSources }
  readonly latest: LatestQuery
  readonly day: DayQuery
  readonly compare: CompareQuery
  readonly detail: DetailQuery
  readonly daily: DailyQuery
  readonly past: PastQuery
  readonly normal: HoursQuery
  readonly unusual: HoursQuery
  readonly stationLatest: StationLatestQuery
  readonly stationUnits: StationUnitsQuery
}

/** The same for the analysis pool. It also answers queries about many days. */
export interface AnalysisQueries {
  readonly stats: StatsQuery
  readonly daily: DailyQuery
  readonly changes: ChangesQuery
  readonly forecast: HoursQuery
  readonly domain: DomainQuery
  readonly excursions: ExcursionsQuery
  readonly anomalies: AnomaliesQuery
  readonly insights: InsightsQuery
}

/** The result of a task: a whole body, or a template whose dynamic part is written when it is served. */
export type Encoded = EncodedBody | ResponseTemplate<StatsLive>

export type TaskResult<Result = Encoded> =
  | { readonly ok: true; readonly encoded: Result }
  | { readonly ok: false; readonly code: FailureCode; readonly reason: string }
