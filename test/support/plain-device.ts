/** A device without settings, for analyses and insights. */

import type { AnalysedDevice } from '../../query/analysed-device.ts'
import type { InsightsEntry } from '../../query/insights-fleet.ts'

export const plainDevice: AnalysedDevice = {
  number: 1,
  symbol: 'roof-1',
  name: 'roof',
  location_short: 'Roof',
  log_switch: true,
  altitude_m: null,
  expected_interval_seconds: null,
  quality_limits: null,
  profile: 'none',
  battery_type: null,
  battery_cells: null,
}

export function plainEntry(name: string): InsightsEntry {
  return { symbol: name, name, tags: [], batteryType: null, batteryCells: null, limits: null }
}

export const nothingKnown = { gauges: [], gaugesLeftOut: 0, silent: [] }
