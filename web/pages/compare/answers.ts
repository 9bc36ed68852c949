/** What the page reads of `compare_data`. */

interface ComparedDevice {
  readonly device: string
  readonly location_short: string
}

/** `t` in milliseconds since 1970. */
export interface Point {
  readonly t: number
  readonly v: number
}

export interface Agreement {
  readonly n: number
  readonly bias: number | null
  readonly pearson: number | null
  readonly p_value: number | null
  readonly limits_of_agreement: readonly [number, number] | null
  readonly lag_seconds: number | null
  readonly reason: string | null
}

export interface ComparedMetric {
  readonly unit: string
  readonly a: readonly Point[]
  readonly b: readonly Point[]
  readonly diff: readonly Point[]
  readonly stats: Agreement
}

export const comparedMetrics = ['temperature', 'humidity', 'pressure'] as const
type ComparedMetricName = (typeof comparedMetrics)[number]

export type Comparison = { readonly [metric in ComparedMetricName]: ComparedMetric } & {
  readonly a: ComparedDevice
  readonly b: ComparedDevice
  readonly time_zone: string
  readonly step_seconds: number
}

export const presets = ['24h', '3d', '7d', '30d', '90d', '365d'] as const
export type ComparePreset = (typeof presets)[number]
