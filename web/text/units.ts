/** Units that a person may choose, and their conversions of stored values. */

import type { Preferences } from '../../auth/accounts/preference-values.ts'
import type { MetricDescription } from '../../query/shapes/kinds.ts'
import { signOf, unitOf } from '../../store/metrics/units.ts'

export type UnitPreference = Exclude<keyof Preferences, 'language' | 'time_zone'>

/** UCUM codes, in the order in which they are offered. */
export const unitChoices = {
  temperature_unit: ['Cel', '[degF]'],
  pressure_unit: ['hPa', "[in_i'Hg]", 'mm[Hg]'],
  speed_unit: ['m/s', 'km/h', '[kn_i]', '[mi_i]/h'],
} as const satisfies { [Name in UnitPreference]: readonly NonNullable<Preferences[Name]>[] }

export const unitPreferences = Object.keys(unitChoices) as UnitPreference[]

/**
 * These units are converted besides the choices. Other units of the same dimension measure other things: mm/h of rain,
 * bar of water, Pa between two rooms.
 */
const alsoConverted: Partial<Record<UnitPreference, readonly string[]>> = { pressure_unit: ['mbar'] }

/** A shown value is the stored one times `factor`, plus `offset`. */
export interface ShownUnit {
  /** The unit's symbol; empty for a plain number. */
  readonly unit: string
  readonly decimals: number
  readonly factor: number
  readonly offset: number
}

/** The stored unit, unless the person has chosen another one. */
export function shownUnit(description: Omit<MetricDescription, 'title'>, chosen: Preferences): ShownUnit {
  const { kind, unit, decimals } = description
  const stored = { unit: signShown(description), decimals, factor: 1, offset: 0 }
  // Totals and sums have no other zero.
  if (unit === null || kind !== 'gauge') return stored
  const from = unitOf(unit)
  const to = unitOf(chosenFor(from?.code, chosen) ?? '')
  if (from === undefined || to === undefined || from.code === to.code) return stored
  // Removes the rounding errors of the division.
  const factor = Number((from.factor / to.factor).toPrecision(12))
  // A digit more for each whole power of ten by which numbers become smaller.
  const digits = decimals + Math.trunc(-Math.log10(factor))
  return {
    unit: signOf(to.code),
    decimals: Math.max(0, digits),
    factor,
    offset: (to.zero ?? 0) - (from.zero ?? 0) * factor,
  }
}

/** The unit with this code, with the decimals of another unit. */
export function unitNamed({ unit, decimals }: Pick<ShownUnit, 'unit' | 'decimals'>, code: string): ShownUnit {
  const [from, to] = [unitOf(unit), unitOf(code)]
  const isScaled = from !== undefined && from.dimension === to?.dimension
  const digits = isScaled ? decimals + Math.round(Math.log10(to.factor / from.factor)) : decimals
  return { unit: to?.sign ?? code, decimals: Math.max(0, digits), factor: 1, offset: 0 }
}

/** The unit of a ratio is written nowhere, and directions are degrees, even without a unit. */
function signShown({ kind, unit }: Omit<MetricDescription, 'title'>): string {
  if (kind === 'direction') return '°'
  return unit === null || unit === '1' ? '' : unit
}

function chosenFor(code: string | undefined, chosen: Preferences): string | null {
  const name = unitPreferences.find(name =>
    [...unitChoices[name], ...(alsoConverted[name] ?? [])].some(convertible => convertible === code),
  )
  return name === undefined ? null : chosen[name]
}
