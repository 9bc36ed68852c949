/** Measured quantities, and the unit in which each metric is stored and shown. */

import { type Metric, metrics } from '../../store/tables.ts'

export const units = {
  temperature: '°C',
  humidity: '%',
  pressure: 'hPa',
  battery_voltage: 'V',
  battery_percentage: '%',
} as const satisfies Record<Metric, string>

/** The metrics, and the dew point of each reading. */
export const quantities = [...metrics, 'dew_point'] as const
export type Quantity = (typeof quantities)[number]

/** Metrics of the air. The others describe the device itself. */
export const airMetrics = ['temperature', 'humidity', 'pressure'] as const satisfies readonly Metric[]
export type AirMetric = (typeof airMetrics)[number]
