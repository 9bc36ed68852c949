/** Units of foreign files: found in the name of a column, and converted to those of the table (°C, %, hPa, V, %). */

import type { Metric } from '../../store/tables.ts'

type Convert = (value: number) => number

const same: Convert = value => value
const percent = { '%': same, percent: same, '%rh': same, ratio: (value: number) => value * 100 }

/** By their key, as `unitKey` gives it. */
const conversions: Record<Metric, Readonly<Record<string, Convert>>> = {
  temperature: { c: same, f: value => ((value - 32) * 5) / 9, k: value => value - 273.15 },
  humidity: percent,
  pressure: {
    hpa: same,
    mbar: same,
    mb: same,
    millibar: same,
    pa: value => value / 100,
    kpa: value => value * 10,
    bar: value => value * 1000,
    inhg: value => value * 33.863_886_666_667,
    mmhg: value => value * 1.333_223_874_15,
    psi: value => value * 68.947_572_931_783,
  },
  battery_voltage: { v: same, mv: value => value / 1000 },
  battery_percentage: percent,
}

/** `℉`, `°F` and `f` are one; letters of a wrong encoding do not count. */
function unitKey(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9%]/g, '')
}

/** The value in the unit of the table; undefined for a unit that the metric cannot have. */
export function conversionOf(metric: Metric, unit: string): Convert | undefined {
  const convert = Object.entries(conversions[metric]).find(([key]) => key === unitKey(unit))?.[1]
  return convert === undefined || convert === same ? convert : value => rounded(convert(value))
}

export function unitsOf(metric: Metric): string[] {
  return Object.keys(conversions[metric])
}

/** Without the digits that only the computation has made. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}

const allUnits = new Set(Object.values(conversions).flatMap(units => Object.keys(units)))

export interface NamedColumn {
  /** Lower case, without the unit. */
  name: string
  unit: string | undefined
}

/** `Outdoor Temperature(℃)`, `Outdoor Temperature [°C]` and `Temp - °F`. */
export function readColumnName(text: string): NamedColumn {
  const name = text.normalize('NFKC').trim().toLowerCase()
  const at = unitStart(name)
  if (at === undefined) return { name, unit: undefined }
  const unit = unitKey(name.slice(at))
  return allUnits.has(unit) ? { name: name.slice(0, at).trim(), unit } : { name, unit: undefined }
}

function unitStart(name: string): number | undefined {
  const places = [name.endsWith(')') ? name.lastIndexOf('(') : -1, name.endsWith(']') ? name.lastIndexOf('[') : -1]
  const at = Math.max(...places, name.lastIndexOf(' - '))
  return at > 0 ? at : undefined
}
