/** Reads the accepted values and times of readings from the settings. */

import { defaultRanges, type Ranges, type TimeLimits } from '../ingest/reading.ts'
import type { AcceptedFrom } from './lifecycle/retention/horizon.ts'
import type { Config } from './settings/config.ts'

export function checkOptionsOf(
  config: Config,
  { acceptedFrom }: { acceptedFrom: AcceptedFrom },
): TimeLimits & { ranges: Ranges } {
  const aheadMsMax = config.TIMESTAMP_AHEAD_SECONDS * 1000
  return { ranges: rangesOf(config), aheadMsMax, earliestMs: acceptedFrom.ms }
}

/** Accepted values of the built-in metrics. */
export function rangesOf(config: Config): Ranges {
  const { humidity, battery_percentage } = defaultRanges
  return {
    temperature: config.RANGE_TEMPERATURE,
    humidity: { ...humidity, ...config.RANGE_HUMIDITY },
    pressure: config.RANGE_PRESSURE,
    battery_voltage: config.RANGE_BATTERY_VOLTAGE,
    battery_percentage: { ...battery_percentage, ...config.RANGE_BATTERY_PERCENTAGE },
  }
}
