/** Numbers as people read them, each with its unit. */

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
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof metrics

/** A narrow no-break space: a number and its unit stay on one line. */
const thin = '\u202f'
/** Stands where there is no value. */
export const noValue = '–'

const counts = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const formatters = new Map<number, Intl.NumberFormat>()

function formatterOf(decimals: number): Intl.NumberFormat {
  const known = formatters.get(decimals)
  if (known !== undefined) return known
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: false }
  const made = new Intl.NumberFormat('en-GB', options)
  formatters.set(decimals, made)
  return made
}

/** `1,024` */
export function countText(count: number): string {
  return counts.format(count)
}

/** `21.4 °C`; `–` without a value. A metric that is not known is shown with two decimals and no unit. */
export function valueText(name: string, value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return noValue
  const { unit, decimals } = metricOf(name)
  // -0.04 is 0.0, not -0.0.
  const rounded = formatterOf(decimals)
    .format(value)
    .replace(/^-(?=[0.]*$)/, '')
  return unit === '' ? rounded : `${rounded}${thin}${unit}`
}

export function metricOf(name: string): Metric {
  return Object.hasOwn(metrics, name) ? metrics[name as MetricName] : { label: name, unit: '', decimals: 2 }
}

/** `1 device`, `2 devices`; for words whose plural takes an s. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}
