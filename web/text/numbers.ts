/** Numbers as people read them, each with its unit. */

import type { BuiltInMetric } from '../../live/fleet-shape.ts'

export type MetricName = BuiltInMetric

/** A metric as it is shown: its name in a sentence, its unit, and the decimals that its sensors are good for. */
interface Metric {
  label: string
  unit: string
  decimals: number
}

export const metrics = {
  temperature: { label: 'Temperature', unit: '°C', decimals: 1 },
  humidity: { label: 'Humidity', unit: '%', decimals: 0 },
  pressure: { label: 'Pressure', unit: 'hPa', decimals: 1 },
  battery_voltage: { label: 'Battery', unit: 'V', decimals: 2 },
  battery_percentage: { label: 'Battery', unit: '%', decimals: 0 },
} as const satisfies Record<MetricName, Metric>

export const metricNames = Object.keys(metrics) as MetricName[]
/** The rest is about the device itself. */
export const airMetrics = ['temperature', 'humidity', 'pressure'] as const satisfies readonly MetricName[]
export type AirMetric = (typeof airMetrics)[number]

/** A narrow no-break space: a number and its unit stay on one line. */
const thin = '\u202f'
/** Stands where there is no value. */
export const noValue = '–'

const counts = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

/** `−1.5`: with the sign that screen readers say, and never `−0.0`. */
export function decimalText(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals)
  return value < 0 && Number(text) !== 0 ? `−${text}` : text
}

/** `1,024` */
export function countText(count: number): string {
  return counts.format(count)
}

/** `21.4 °C`; `–` without a value. A metric that is not known is shown with two decimals and no unit. */
export function valueText(name: string, value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return noValue
  const { unit, decimals } = metricOf(name)
  const rounded = decimalText(value, decimals)
  return unit === '' ? rounded : `${rounded}${thin}${unit}`
}

export function metricOf(name: string): Metric {
  return Object.hasOwn(metrics, name) ? metrics[name as MetricName] : { label: name, unit: '', decimals: 2 }
}

/** `1 device`, `2 devices`; for words whose plural takes an s. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}
