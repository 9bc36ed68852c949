/** The analyses of devices. */

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
  /** Whether each gauge behaves as in its own four weeks before. */
  unusual(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  /** The next 48 hours of each gauge. */
  forecast(device: AnalysedDevice, how: MomentHow, client: AbortSignal): Served
  /** Figures by what the device is for. */
  domain(device: AnalysedDevice, how: WindowHow, client: AbortSignal): Served
  /** When a gauge was beyond thresholds, in a range or in the last 7 days. */
  excursions(device: AnalysedDevice, how: ExcursionsHow, client: AbortSignal): Served
  /** What was unusual, in a window, page by page. */
  anomalies(device: AnalysedDevice, how: AnomaliesHow, client: AbortSignal): Served
  /** The newest point of each parameter of a station, of those of the month up to the newest of all. */
  stationLatest(station: AnalysedDevice, how: CustomHow, client: AbortSignal): Served
  /** In which units the points of a range are. Read anew each time, so that it is true of what is read of the range next. */
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

/** As of a moment. */
export type MomentHow = CustomHow & Pick<AskedWindow, 'endMs'>
export type WindowHow = CustomHow & AskedWindow

interface CompareHow extends Pick<AskedWindow, 'startMs' | 'endMs'> {
  /** Metrics beside those that the answer always has. */
  readonly custom: readonly ComparedCustom[]
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

export type MsRange = Pick<RangeQuery, 'startMs' | 'endMs'>
