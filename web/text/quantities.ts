/** Names and units of metrics. Answers have stored values; only this file converts them to shown ones. */

import { builtInMetrics, nameWithin as titleWithin } from '../../analytics/findings/value-words.ts'
import type { BuiltInMetric } from '../../query/live/fleet-shape.ts'
import type { MetricDescription, MetricKind } from '../../query/shapes/kinds.ts'
import { words } from '../words/words.ts'
import { decimalText, pointsText } from './numbers.ts'
import { noValue } from './phrases.ts'
import { preferences } from './preferences.ts'
import { type ShownUnit, shownUnit, unitNamed } from './units.ts'

export interface Quantity extends ShownUnit {
  /** Capitalised. */
  readonly name: string
  readonly kind: MetricKind
  /**
   * True for a state that had values other than 0 and 1: it is shown as a number, even while all visible values are 0
   * or 1.
   */
  readonly isNumbered: boolean
}

/** Keys are names of metrics, in the order of an answer. */
export type Descriptions = Readonly<Record<string, MetricDescription>>

export interface Quantities {
  /** A name that is not known is a gauge without a unit. */
  of(name: string): Quantity
}

export const builtInNames = Object.keys(builtInMetrics) as BuiltInMetric[]
export function isBuiltIn(name: string): name is BuiltInMetric {
  return Object.hasOwn(builtInMetrics, name)
}

/** The rest is about the device itself. */
export const airMetrics = ['temperature', 'humidity', 'pressure'] as const satisfies readonly BuiltInMetric[]
export type AirMetric = (typeof airMetrics)[number]

/** Built-in and derived metrics. */
const alwaysKnown: Descriptions = {
  ...builtInMetrics,
  dew_point: { ...builtInMetrics.temperature, title: 'Dew point' },
}

/** Built-in and described metrics. Later descriptions replace earlier ones. */
export function quantitiesOf(...described: readonly (Descriptions | undefined)[]): Quantities {
  const known = new Map<string, MetricDescription>()
  for (const descriptions of [alwaysKnown, ...described]) {
    for (const [name, description] of Object.entries(descriptions ?? {})) known.set(name, description)
  }
  return { of: name => quantityOf(known.get(name) ?? { title: name, kind: 'gauge', unit: null, decimals: 2 }) }
}

/** Applies an answer's descriptions. Other metrics stay. */
export function describedBy(quantities: Quantities, descriptions: Descriptions = {}): Quantities {
  return {
    of(name) {
      const before = quantities.of(name)
      const description = Object.hasOwn(descriptions, name) ? descriptions[name] : undefined
      return description === undefined ? before : { ...quantityOf(description), isNumbered: before.isNumbered }
    },
  }
}

/** Applies an answer's unit codes by name. */
export function inUnits(quantities: Quantities, codes: Readonly<Record<string, string>> = {}): Quantities {
  return {
    of(name) {
      const before = quantities.of(name)
      const code = Object.hasOwn(codes, name) ? codes[name] : undefined
      return code === undefined ? before : { ...before, ...unitNamed(before, code) }
    },
  }
}

/** `names`: of the states that have been other than 0 and 1. */
export function withNumbered(quantities: Quantities, names: Iterable<string>): Quantities {
  const numbered = new Set(names)
  return { of: name => ({ ...quantities.of(name), isNumbered: numbered.has(name) }) }
}

/** Devices without custom metrics have these. */
export const builtInQuantities = quantitiesOf()

/** Titles of the catalogue of metrics are translated. Those by people are shown as they are. */
function titleIn(title: string): string {
  return words.tc('metric', title)
}

/** Uses the current unit, which a person may change at any time. */
function quantityOf(description: MetricDescription): Quantity {
  const { title, kind } = description
  return { name: titleIn(title), kind, isNumbered: false, ...shownUnit(description, preferences.value) }
}

export function shownValue(stored: number, { factor, offset }: Quantity): number {
  return stored * factor + offset
}

/** Converts a difference: a spread, a bias or a slope. */
export function shownDifference(stored: number, { factor }: Quantity): number {
  return stored * factor
}

/** `−1.5` */
export function numberText(stored: number, quantity: Quantity, extraDecimals = 0): string {
  return decimalText(shownValue(stored, quantity), quantity.decimals + extraDecimals)
}

/** `−1.5 °C`, with a space that does not break. */
export function measure(stored: number, quantity: Quantity, extraDecimals = 0): string {
  return withUnit(numberText(stored, quantity, extraDecimals), quantity)
}

/** Shares differ by points, because 5 % less would be another number. */
export function measureDifference(stored: number, quantity: Quantity, extraDecimals = 0): string {
  return differenceText(decimalText(shownDifference(stored, quantity), quantity.decimals + extraDecimals), quantity)
}

/** `1.5 °C`, but `5 points` of a share, for the number of a difference. */
export function differenceText(number: string, quantity: Pick<Quantity, 'unit'>): string {
  return quantity.unit === '%' ? pointsText(number) : withUnit(number, quantity)
}

/** The same of two values as `measure` shows them. */
export function measureShownDifference(low: number, high: number, quantity: Quantity, extraDecimals: number): string {
  const decimals = quantity.decimals + extraDecimals
  const shown = (stored: number) => Number(shownValue(stored, quantity).toFixed(decimals))
  return differenceText(decimalText(shown(high) - shown(low), decimals), quantity)
}

/** Formats like `measure`, with `–` for a missing value. */
export function valueText(stored: number | null | undefined, quantity: Quantity): string {
  return stored === null || stored === undefined || Number.isNaN(stored) ? noValue : measure(stored, quantity)
}

/** A number with its unit; degrees of an angle stand close to it. */
export function withUnit(number: string, { unit }: Pick<Quantity, 'unit'>): string {
  if (unit === '') return number
  return unit === '°' ? `${number}°` : `${number}\u202f${unit}`
}

/** `Temperature, °C`, of an axis or a column. */
export function nameWithUnit({ name, unit }: Quantity): string {
  return unit === '' ? name : `${name}, ${unit}`
}

/** The name within a sentence. */
export function nameWithin({ name }: Pick<Quantity, 'name'>): string {
  return words.language === 'en' ? titleWithin(name) : name
}

/** The default number of shown metrics where more exist. */
export const shownMax = 12

/** `chosen`: names of an address with commas between them. Those that are not among `names` count for nothing. */
export function chooseMetrics(names: readonly string[], chosen: string | null): string[] {
  const wanted = new Set(chosen?.split(','))
  const found = names.filter(name => wanted.has(name))
  return found.length > 0 ? found : names.slice(0, shownMax)
}
