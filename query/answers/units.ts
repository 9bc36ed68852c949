/** The unit in which each metric is stored and shown. */

import type { Metric } from '../../store/tables.ts'

export const units = {
  temperature: '°C',
  humidity: '%',
  pressure: 'hPa',
  battery_voltage: 'V',
  battery_percentage: '%',
} as const satisfies Record<Metric, string>

/** What a device measures of the air; the rest is about itself. */
export const airMetrics = ['temperature', 'humidity', 'pressure'] as const satisfies readonly Metric[]
export type AirMetric = (typeof airMetrics)[number]
