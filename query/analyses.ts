import type { RejectedReadings } from '../analytics/findings/from-rejections.ts'
import type { AnalysedDevice } from './analysed-device.ts'
import type { AnomaliesPage } from './answers/anomalies-answer.ts'
import type { ComparePreset } from './answers/compare-answer.ts'
import type { AskedWindow } from './asked-window.ts'
import type { Answer } from './cache/body.ts'
import type { CustomMetric } from './custom-metric.ts'
import type { Station } from './points/station.ts'
import type { ComparedCustom, RangeQuery } from './task.ts'
import type { UsRange } from './task-context.ts'

export type Served = Answer | Promise<Answer>

/** In every method, `client` aborts when the client disconnects. */
export interface Analyses {
  /** Two devices side by side, hour by hour, up to the last reading. */
  compare(a: AnalysedDevice, b: AnalysedDevice, how: CompareHow, client: AbortSignal): Served
  /** The last day in full and the last month by the hour. */
  detail(device: AnalysedDevice, how: DetailHow, client: AbortSignal): Served
  /** All statistics of a device. Its age is computed at the second of the request. */
  stats(device: AnalysedDevice, how: StatsHow, client: AbortSignal): Served
  /** The last local days, including today unless the device has been silent since. */
  daily(device: AnalysedDevice, how: WindowHow, client: AbortSignal): Served
  /** Today, and four days like it. */
  past(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  /** Permanent changes of level of each gauge. */
  changes(device: AnalysedDevice, how: WindowHow, client: AbortSignal): Served
  /** Compares each gauge with its usual values at this hour. */
  normal(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  /** Compares each gauge with its own previous four weeks. */
  unusual(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  forecast(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  domain(device: AnalysedDevice, how: WindowHow, client: AbortSignal): Served
  /** Excursions of a gauge beyond thresholds, in a range or in the last 7 days. */
  excursions(device: AnalysedDevice, how: ExcursionsHow, client: AbortSignal): Served
  anomalies(device: AnalysedDevice, how: AnomaliesHow, client: AbortSignal): Served
  /** The newest point of each parameter of a station, within the month up to the newest point of all. */
  stationLatest(station: AnalysedDevice, how: CustomHow, client: AbortSignal): Served
  /** The units of the points of a range. Read again each time, so that the next read of the range agrees with them. */
  stationUnits(station: Station, range: UsRange, client: AbortSignal): Promise<Answer>
}

export interface CustomHow {
  /** Metrics beside those that the answer always has. */
  readonly custom: readonly CustomMetric[]
}

export type AnomaliesHow = WindowHow & AnomaliesPage

export interface ExcursionsHow extends CustomHow {
  /** Undefined: the last 7 days. */
  readonly range: MsRange | undefined
  readonly metric: string
  readonly above: number | null
  readonly below: number | null
  readonly forSeconds: number
}

export type MomentHow = CustomHow & Pick<AskedWindow, 'endMs'>
export type WindowHow = CustomHow & AskedWindow

interface CompareHow extends Pick<AskedWindow, 'startMs' | 'endMs'> {
  /** Metrics beside those that the answer always has. */
  readonly custom: readonly ComparedCustom[]
  /** Used unless there is a start. */
  readonly preset: ComparePreset
  readonly withTimes: boolean
}

interface DetailHow extends MomentHow, Pick<AskedWindow, 'startMs'> {
  /** The most points for each metric; undefined for all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  readonly withFlags: boolean
}

interface StatsHow extends WindowHow {
  readonly rejected?: RejectedReadings | undefined
  readonly stepSeconds: number | undefined
}

export type MsRange = Pick<RangeQuery, 'startMs' | 'endMs'>
