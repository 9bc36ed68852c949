/** Units of foreign files, found in the names of columns and converted to the units of the catalogue of metrics. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { signsLike } from '../../store/metrics/stated-units.ts'
import { type Convert, conversion, signOf, unchanged, unitOf } from '../../store/metrics/units.ts'
import { metrics } from '../../store/tables.ts'

function unitOfMetric(metric: string): string {
  return catalogueEntry(metric)?.unit ?? ''
}

/** The value in the unit of the catalogue; undefined for a unit that the metric cannot have. */
export function conversionOf(metric: string, unit: string): Convert | undefined {
  const found = conversion(unit, unitOfMetric(metric))
  if (!found.ok) return undefined
  if (found.convert === unchanged) return unchanged
  return value => rounded(found.convert(value))
}

/** The unit of the catalogue, as people read it. */
export function unitSignOf(metric: string): string {
  return signOf(unitOfMetric(metric))
}

/** The units in their usual spelling. */
export function unitsOf(metric: string): string[] {
  return signsLike(unitOfMetric(metric))
}

/** Files that were made by hand or from a column of another unit have noise in further digits. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}

const dimensions = new Set(metrics.map(metric => unitOf(unitOfMetric(metric))?.dimension))

export interface NamedColumn {
  /** Lower case, without the unit. */
  name: string
  unit: string | undefined
}

/**
 * `Outdoor Temperature(℃)`, `Outdoor Temperature [°C]` and `Temp - °F`: with a unit that one of the table's metrics can have, or
 * `any` of those that are known.
 */
export function readColumnName(text: string, any?: 'any'): NamedColumn {
  const name = text.normalize('NFKC').trim().toLowerCase()
  const at = unitStart(name)
  if (at === undefined) return { name, unit: undefined }
  const unit = columnUnit(name.slice(at), any)
  return unit === undefined ? { name, unit } : { name: name.slice(0, at).trim(), unit }
}

/** Code of the unit in a column name. `Temperature (in)` means indoors, and `Temperature (1)` the first sensor. */
function columnUnit(text: string, any?: 'any'): string | undefined {
  const inner = text.replace(/^ - /, '').replace(/^[([]|[)\]]$/g, '')
  const unit = /^\d+$/.test(inner) ? undefined : unitOf(inner)
  return unit !== undefined && (any === 'any' || dimensions.has(unit.dimension)) ? unit.code : undefined
}

function unitStart(name: string): number | undefined {
  const places = [name.endsWith(')') ? name.lastIndexOf('(') : -1, name.endsWith(']') ? name.lastIndexOf('[') : -1]
  const at = Math.max(...places, name.lastIndexOf(' - '))
  return at > 0 ? at : undefined
}
