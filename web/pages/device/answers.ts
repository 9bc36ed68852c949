/** What the page reads of the answers about a device; `docs/statistics.md` says what each figure is. */

import type { DeviceState } from '../../client/device-states.ts'

export const metrics = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage'] as const
export type Metric = (typeof metrics)[number]
export type AirMetric = 'temperature' | 'humidity' | 'pressure'
type Quantity = Metric | 'dew_point'
type ByMetric<Value> = Readonly<Record<Metric, Value>>

export type LastValues = Readonly<Partial<Record<Metric, { readonly v: number; readonly ts: number }>>>

export interface Latest {
  readonly location_short: string | null
  readonly state: DeviceState
  readonly values: LastValues
}

/** `t` in milliseconds since 1970: the page asks for it. */
interface Point {
  readonly t: number
  readonly v: number
  /** QARTOD's 3: suspect. */
  readonly flag?: 3
}

interface HourPoint {
  readonly t: number
  readonly mean: number
  readonly min: number
  readonly max: number
  readonly count: number
}

export interface Detail {
  readonly time_zone: string
  readonly last_24h: ByMetric<readonly Point[]> & { readonly gap_seconds: number | null }
  readonly last_30d_hourly: ByMetric<readonly HourPoint[]>
}

interface Verdict {
  readonly status: 'ok' | 'no_data' | 'insufficient_data' | 'constant'
  readonly reason: string | null
}

export interface Autocorrelation extends Verdict {
  readonly max_lag_hours: number | null
  readonly lags_hours: readonly number[] | null
  readonly acf: readonly (number | null)[] | null
  readonly band95: readonly (number | null)[] | null
  readonly decorrelation_hours: number | null
  readonly peak: { readonly lag_hours: number; readonly r: number } | null
}

export interface Peak {
  readonly period_hours: number
  readonly power: number
  readonly amplitude: number
  readonly phase_time: string | null
  readonly significant: boolean
  readonly harmonic_of: number | null
}

interface ProfileHour {
  readonly hour: number
  readonly n: number
  readonly mean: number | null
  readonly p10: number | null
  readonly p90: number | null
}

export interface Seasonality extends Verdict {
  readonly slope_per_day: number | null
  readonly slope_ci95: readonly [number, number] | null
  readonly trend: { readonly direction: 'rising' | 'falling' | 'none' | null; readonly reason: string | null } | null
  readonly peaks: readonly Peak[]
  readonly label: 'none' | 'weak' | 'moderate' | 'strong' | null
  readonly periodogram: {
    readonly period_hours: readonly number[]
    readonly power_db: readonly number[]
    readonly background_db: readonly number[]
  } | null
  readonly daily_profile: readonly ProfileHour[]
  readonly peak_hour: number | null
  readonly trough_hour: number | null
}

export interface Pair {
  readonly a: Quantity
  readonly b: Quantity
  readonly n: number
  readonly pearson: number | null
  readonly ci95: readonly [number, number] | null
  readonly significant: boolean
  readonly r_deseasonalised: number | null
  readonly lag_seconds: number | null
  readonly reason: string | null
}

export interface ReliabilityWindow {
  readonly uptime: number | null
  readonly completeness: number | null
  readonly hours_with_data: number | null
  readonly gap_count: number
  readonly longest_gap_seconds: number
  readonly truncated: boolean
}

export interface CompleteDay {
  readonly date: string
  readonly completeness: number | null
  readonly state: 'ok' | 'partial' | 'missing' | null
}

export interface Quality {
  readonly good: number
  readonly suspect: number
  readonly tests: Readonly<Record<'range' | 'spike' | 'rate' | 'flat', number>>
}

export interface Stats {
  readonly time_zone: string
  readonly window: { readonly days: number; readonly truncated: boolean }
  readonly freshness: {
    readonly state: 'never' | 'paused' | 'fresh' | 'late' | 'stale' | 'offline'
    readonly expected_interval_seconds: number | null
    readonly cadence: 'regular' | 'irregular' | 'unknown'
  }
  readonly reliability: {
    readonly windows: Readonly<Record<'24h' | '7d' | '30d', ReliabilityWindow>>
    readonly days: readonly CompleteDay[]
  }
  readonly correlations: { readonly pairs: readonly Pair[] }
  readonly autocorrelation: ByMetric<Autocorrelation>
  readonly seasonality: ByMetric<Seasonality>
  readonly quality: ByMetric<Quality>
}

interface HourFigures {
  readonly mean: number | null
}

interface PastDay {
  readonly date: string
  readonly hours: readonly ({ readonly hour: number; readonly d: string } & Readonly<Record<AirMetric, HourFigures>>)[]
}

export const pastKeys = ['today', 'yesterday', '7d', '30d', '365d'] as const
export type PastKey = (typeof pastKeys)[number]
export type PastDays = { readonly time_zone: string } & Readonly<Record<PastKey, PastDay>>
