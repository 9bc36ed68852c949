/** The answers of the service as the pages read them (`docs/` describes them). */

import type { MetricName } from '../text/numbers.ts'

/** By freshness, worst first; `off`: it does not log, `never`: no reading yet. */
export const deviceStates = ['silent', 'late', 'never', 'fresh', 'off'] as const
export type DeviceState = (typeof deviceStates)[number]

export type Values = Partial<Record<MetricName, number>>

/** One of `GET /api/fleet`. */
export interface FleetDevice {
  device: string
  location_short: string | null
  state: DeviceState
  /** Epoch milliseconds. */
  last_seen: number | null
  expected_interval_seconds: number | null
  /** The last of each metric that is recent. */
  values: Values
  /** One letter an hour, oldest first; see `HourStrip`. */
  hours: string
}

/** `GET /api/fleet` */
export interface FleetAnswer {
  /** Epoch milliseconds, by the clock of the service. */
  generated_at: number
  time_zone: string
  /** Of the whole fleet, also where `devices` are one page of it. */
  counts: Record<DeviceState, number>
  devices: FleetDevice[]
  /** Where the next page begins (`after`); null on the last one. */
  next: string | null
  /** The service has just started, and the last readings of its journal may be missing. */
  catching_up?: true
}

interface BatteryLife {
  device: string
  /** `low` and `high`: the 95 % interval. */
  days_left: number
  low: number
  high: number
}

export type BatteryInsight = BatteryLife &
  ({ metric: 'battery_percentage'; percent_per_day: number } | { metric: 'battery_voltage'; volts_per_day: number })

export interface OutlierInsight {
  device: string
  metric: 'temperature' | 'humidity' | 'pressure'
  value: number
  /** Of all devices. */
  median: number
  score: number
}

/** `GET /api/fleet/insights` */
export interface InsightsAnswer {
  /** Epoch milliseconds. */
  generated_at: number
  /** Soonest first; the first 200 of `batteries_total`. */
  batteries: BatteryInsight[]
  batteries_total: number
  /** Largest score first; the first 200 of `outliers_total`. */
  outliers: OutlierInsight[]
  outliers_total: number
}
