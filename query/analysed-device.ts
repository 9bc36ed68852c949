/** A device as the analytics see it: what the registry knows of it that an answer depends on. */

import type { QueryDevice } from './fleet.ts'

export interface AnalysedDevice extends QueryDevice {
  readonly log_switch: boolean
  /** Above the sea, in metres. */
  readonly altitude_m: number | null
  /** As configured, in seconds; null when nobody said. */
  readonly expected_interval_s: number | null
}

/** These fields alone, so that they can be posted to a worker and be part of a key. */
export function analysedDevice(device: AnalysedDevice): AnalysedDevice {
  const { number, symbol, name, location_short, log_switch, altitude_m, expected_interval_s } = device
  return { number, symbol, name, location_short, log_switch, altitude_m, expected_interval_s }
}
