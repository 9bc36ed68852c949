/** Units: found by how senders write them, and converted into each other where they measure the same. */

import { type UnitRow, unitTable } from './unit-table.ts'

export interface Unit extends UnitRow {
  readonly dimension: string
}

export type Convert = (value: number) => number

/** Of a value that is in the unit already. */
export const unchanged: Convert = value => value

export const units: readonly Unit[] = Object.entries(unitTable).flatMap(([dimension, rows]) =>
  (rows as readonly UnitRow[]).map(row => ({ ...row, dimension })),
)

/** As it stands in the table, case and all. */
const byText = new Map<string, Unit>()
/** Whatever the case and without blanks; undefined where it would mean two units. */
const byKey = new Map<string, Unit | undefined>()
for (const unit of units) {
  for (const text of [unit.code, unit.sign, ...unit.aliases]) {
    const plain = plainSpelling(text)
    if (!byText.has(plain)) byText.set(plain, unit)
    const key = keyOf(plain)
    // `M` is no metre and `T` no tonne.
    if (key.length > 1) byKey.set(key, byKey.has(key) && byKey.get(key) !== unit ? undefined : unit)
  }
}

/** A longer text is no unit. */
const textLengthMax = 32

/** Undefined for a text that is no unit of the table. `°F`, `℉`, `degF`, `F` and `[degF]` are one. */
export function unitOf(text: string): Unit | undefined {
  if (text.length > textLengthMax) return undefined
  const plain = plainSpelling(text)
  return byText.get(plain) ?? byKey.get(keyOf(plain)) ?? degreesOfBrokenText(plain)
}

/** How people read a unit; the code itself where the table does not have it. */
export function signOf(code: string): string {
  return byText.get(code)?.sign ?? code
}

/** Without the signs that several code points write: `㎍/㎥` and `µg/m³` become `ug/m3`. */
function plainSpelling(text: string): string {
  return text.trim().replaceAll('º', '°').normalize('NFKC').replaceAll('μ', 'u')
}

function keyOf(plain: string): string {
  // Letters that are not ASCII stay: without its first one, a `µg` of a wrong encoding would be a `g`.
  return plain.toLowerCase().replace(/[\s°^_.·()[\]'"-]/g, '')
}

/** `Â°C` is UTF-8 that was read as Latin-1, `\ufffdC` Latin-1 that was read as UTF-8: of degrees nothing else can be meant. */
function degreesOfBrokenText(plain: string): Unit | undefined {
  const letters = plain.toLowerCase().replace(/[^a-z0-9%/]/g, '')
  if (letters === 'c') return byText.get('Cel')
  return letters === 'f' ? byText.get('[degF]') : undefined
}

type Conversion = { readonly ok: true; readonly convert: Convert } | { readonly ok: false; readonly reason: string }

/**
 * From the unit that a sender states to that of a metric (a code). Refused for a text that is no unit and for a unit of another
 * dimension; the reason names both. Affine: values in °F and K have another zero than those in °C.
 */
export function conversion(from: string, to: string): Conversion {
  const [given, wanted] = [unitOf(from), byText.get(to)]
  if (given === undefined) return { ok: false, reason: `the unit "${from}" is not known` }
  if (wanted === undefined || wanted.dimension !== given.dimension) {
    return { ok: false, reason: `the unit "${from}" cannot be converted to ${signOf(to)}` }
  }
  return { ok: true, convert: convertBetween(given, wanted) }
}

function convertBetween(from: Unit, to: Unit): Convert {
  const [zeroFrom, zeroTo] = [from.zero ?? 0, to.zero ?? 0]
  if (from.factor === to.factor && zeroFrom === zeroTo) return unchanged
  const factor = from.factor / to.factor
  return value => rounded((value - zeroFrom) * factor + zeroTo)
}

/** Without the digits that only the computation has made. */
function rounded(value: number): number {
  return Number(value.toPrecision(12))
}
