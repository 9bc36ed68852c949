/** The subject of a page of readings, the types of its answers, and access to custom metrics in them. */

import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import type { DailySummary } from '../../../query/shapes/daily.ts'
import type { DeviceDetail } from '../../../query/shapes/detail.ts'
import type { Forecast } from '../../../query/shapes/forecast.ts'
import type { KindBucket, WindowFigures } from '../../../query/shapes/kinds.ts'
import type { NormalValues } from '../../../query/shapes/normal.ts'
import type { PastDays } from '../../../query/shapes/past.ts'
import type { Autocorrelation, Seasonality, Stats } from '../../../query/shapes/stats.ts'
import type { UnusualValues } from '../../../query/shapes/unusual.ts'
import type { Timed } from '../../client/timed.ts'

export type Detail = Timed<DeviceDetail>
export type LastValues = LatestOfDevice['values']
/** The fields that devices and stations have in common. */
export type Latest = Pick<LatestOfDevice, 'state' | 'values' | 'metrics'>

type Point = Detail['last_24h']['temperature'][number]
type GaugeHour = Detail['last_30d_hourly']['temperature'][number]
/** Figures of an hour or a day, of one kind. */
export type Figures<Kind extends KindBucket['kind']> = Extract<KindBucket, { kind: Kind }>
export type HourOf<Kind extends KindBucket['kind']> = Figures<Kind> & { readonly t: number }
export type WindowOf<Kind extends WindowFigures['kind']> = Extract<WindowFigures, { kind: Kind }>

/** Custom metrics are members that the map's type lacks. */
function member<Value>(map: object, metric: string): Value | undefined {
  return Object.hasOwn(map, metric) ? (map as Readonly<Record<string, Value>>)[metric] : undefined
}

/** The last 24 hours, ascending. */
export function pointsOf({ last_24h }: Detail, metric: string): readonly Point[] {
  return member<readonly Point[]>(last_24h, metric) ?? []
}

export function gaugeHoursOf({ last_30d_hourly }: Detail, metric: string): readonly GaugeHour[] {
  return member<readonly GaugeHour[]>(last_30d_hourly, metric) ?? []
}

/** Thirty days, ascending; hours without a value are left out. */
export function hoursOf<Kind extends KindBucket['kind']>(detail: Detail, metric: string): readonly HourOf<Kind>[] {
  return member<readonly HourOf<Kind>[]>(detail.last_30d_hourly, metric) ?? []
}

export function dayOf<Kind extends KindBucket['kind']>(
  day: DailySummary['days'][number],
  metric: string,
): Figures<Kind> | undefined {
  return member<Figures<Kind>>(day, metric)
}

type PastHour = PastDays['today']['hours'][number]

export function pastMeanOf(hour: PastHour, metric: string): number | null {
  return member<PastHour['temperature']>(hour, metric)?.mean ?? null
}

export function pastFiguresOf<Kind extends KindBucket['kind']>(
  hour: PastHour,
  metric: string,
): Figures<Kind> | undefined {
  return member<Figures<Kind>>(hour, metric)
}

export function seasonalityOf({ seasonality }: Stats, metric: string): Seasonality | undefined {
  return member<Seasonality>(seasonality, metric)
}

export function autocorrelationOf({ autocorrelation }: Stats, metric: string): Autocorrelation | undefined {
  return member<Autocorrelation>(autocorrelation, metric)
}

export function normalOf(normal: NormalValues, metric: string): NormalValues['temperature'] | undefined {
  return member<NormalValues['temperature']>(normal, metric)
}

export function forecastOf(forecast: Forecast, metric: string): Forecast['temperature'] | undefined {
  return member<Forecast['temperature']>(forecast, metric)
}

export function unusualOf(unusual: UnusualValues, metric: string): UnusualValues['temperature'] | undefined {
  return member<UnusualValues['temperature']>(unusual, metric)
}

export function qualityOf({ quality }: Stats, metric: string): Stats['quality']['temperature'] | undefined {
  return member<Stats['quality']['temperature']>(quality, metric)
}

/** Figures of the whole window; undefined for gauges and absent metrics. */
export function windowFiguresOf({ aggregates }: Stats, metric: string): WindowFigures | undefined {
  const figures = member<WindowFigures | { readonly kind?: 'gauge' }>(aggregates, metric)
  return figures !== undefined && isOfKind(figures) ? figures : undefined
}

/** The figures of gauges among the five have no kind. */
function isOfKind(figures: { readonly kind?: string }): figures is WindowFigures {
  return figures.kind !== undefined && figures.kind !== 'gauge'
}

export interface Measured {
  readonly kind: 'device' | 'station'
  readonly name: string
  /** The path behind `/api/` for a read such as `detail_data`, with its query string. */
  pathOf(read: string, query?: string): string
}

export function measuredDevice(name: string): Measured {
  const part = encodeURIComponent(name)
  return { kind: 'device', name, pathOf: (read, query = '') => withQuery(`${read}/${part}`, query) }
}

export function measuredStation(name: string): Measured {
  const part = encodeURIComponent(name)
  return { kind: 'station', name, pathOf: (read, query = '') => withQuery(`stations/${part}/${read}`, query) }
}

function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`
}
