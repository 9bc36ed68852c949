/** A device as the analytics see it: what the registry knows of it that an answer depends on. */

import { type MetricSettings, type QualityLimits, qualityLimits } from '../analytics/quality/quality-limits.ts'
import type { Metric } from '../store/tables.ts'
import type { QueryDevice } from './fleet.ts'

export interface AnalysedDevice extends QueryDevice {
  readonly log_switch: boolean
  /** Above the sea, in metres. */
  readonly altitude_m: number | null
  /** As configured, in seconds; null when nobody said. */
  readonly expected_interval_seconds: number | null
  /** Limits of its own for the quality of its readings; null: those of all devices. */
  readonly quality_limits: Readonly<Partial<Record<Metric, MetricSettings | undefined>>> | null
}

/** These fields alone, so that they can be posted to a worker and be part of a key. */
export function analysedDevice(device: AnalysedDevice): AnalysedDevice {
  const { number, symbol, name, location_short, log_switch, altitude_m, expected_interval_seconds, quality_limits } =
    device
  return { number, symbol, name, location_short, log_switch, altitude_m, expected_interval_seconds, quality_limits }
}

/** From where on a reading of the device is suspect. */
export function deviceLimits(
  { altitude_m, quality_limits }: Pick<AnalysedDevice, 'altitude_m' | 'quality_limits'>,
  metric: Metric,
): QualityLimits {
  return qualityLimits(metric, altitude_m, quality_limits?.[metric])
}
