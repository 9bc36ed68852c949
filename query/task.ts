/** What crosses between the main thread and a worker: plain data that can be posted. */

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

/** How one QuestDB is read. */
export interface QuestdbSettings extends QuestdbTimeouts {
  readonly questdb: QuestdbAddress
}

/** Given to a worker once, when it starts. */
export interface WorkerSettings extends QuestdbTimeouts {
  /** The first one has the number 1. */
  readonly replicas: readonly QuestdbAddress[]
  readonly timeZone: string
  /** A body is shorter than this. */
  readonly bodyBytesMax: number
  /** Readings that an analysis may be made of. */
  readonly rowsMax: number
}

/** A worker says at `control` that it has begun, and is told there to stop. */
export type Task<Query> = Query & {
  readonly control: MessagePort
  /** The number of the replica that is read. */
  readonly replica: number
}

export interface LatestQuery {
  /** The fleet as `encodeFleet` wrote it. */
  readonly fleet: string
  /** Whether the fleet is a part of all active devices, so that QuestDB should read only theirs. */
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
  /** Unless there is a start. */
  readonly preset: ComparePreset
  readonly withTimes: boolean
  readonly nowMs: number
  /** No reading is later: some are a little ahead of our clock. */
  readonly newestUs: number
  readonly hourSources: HourSources
}

/** Where a window has an end, `nowMs` is there. */
export interface DetailQuery extends Pick<AskedWindow, 'startMs' | 'endMs'> {
  readonly device: AnalysedDevice
  /** At most so many for each metric; undefined: all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  readonly withFlags: boolean
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
  readonly hourSources: HourSources
}

export interface StatsQuery extends AskedWindow {
  readonly device: AnalysedDevice
  /** Undefined: none that is known. */
  readonly rejected?: RejectedReadings | undefined
  /** The grid's; undefined: as the readings have it. */
  readonly stepSeconds: number | undefined
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
  /** As above. */
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

/** Of gauges, by the hour. */
export interface HoursQuery extends Pick<AskedWindow, 'endMs'> {
  readonly device: AnalysedDevice
  readonly custom: readonly CustomMetric[]
  readonly hourSources: HourSources
  readonly nowMs: number
}

export type ChangesQuery = HoursQuery & AskedWindow

export interface DomainQuery extends HoursQuery, AskedWindow {
  /** The temperature outdoors where the device measures it. */
  readonly custom: readonly CustomMetric[]
}

/** Of all readings of a range. */
export interface RangeQuery {
  readonly device: AnalysedDevice
  readonly custom: readonly CustomMetric[]
  readonly startMs: number
  /** Not included; not later than now. */
  readonly endMs: number
  readonly nowMs: number
}

/** `further`: the metric, unless it is a column of the readings. */
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
  /** As above. */
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
  /** Whether the rows of these devices alone are read. */
  readonly narrowed: boolean
  readonly nowUs: number
  readonly hourSources: HourSources
}

interface FleetLastQuery {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

/** Of values of metrics that have no column. */
interface FleetCustomQuery {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
  /** Undefined for all that there are. */
  readonly series: readonly number[] | undefined
}

interface FleetHourQuery {
  readonly fromUs: number
  /** Whether the hourly view has all of this hour. */
  readonly isInView: boolean
}

/** A device that is looked up by itself. */
type FleetDevice = Pick<AnalysedDevice, 'number' | 'symbol' | 'expected_interval_seconds'>

interface FleetDevicesQuery {
  readonly devices: readonly FleetDevice[]
  readonly nowUs: number
  /** As above. */
  readonly newestUs: number
  /** Newest readings that are looked at of each. */
  readonly timesMax: number
}

/** Parts of what the state of the fleet begins with, as they are asked for; each comes back as packed rows. */
export interface FleetQueries {
  readonly fleetLast: FleetLastQuery
  readonly fleetCustom: FleetCustomQuery
  readonly fleetHour: FleetHourQuery
  readonly fleetDevices: FleetDevicesQuery
}

/** What each query of the light pool is called and asks for. */
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

/** The same for the analysis pool; days are asked of it when they are many. */
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

/** What a task comes to: a whole body, or the template of one whose dynamic part is written when it is served. */
export type Encoded = EncodedBody | ResponseTemplate<StatsLive>

export type TaskResult<Result = Encoded> =
  | { readonly ok: true; readonly encoded: Result }
  | { readonly ok: false; readonly code: FailureCode; readonly reason: string }
