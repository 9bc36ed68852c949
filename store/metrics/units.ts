/** Units: found by how senders write them, and converted within a dimension. */

import { type UnitRow, unitTable } from './unit-table.ts'

export interface Unit extends UnitRow {
  readonly dimension: string
}

export type Convert = (value: number) => number

/** Converts a value that already has the unit. */
export const unchanged: Convert = value => value

export const units: readonly Unit[] = Object.entries(unitTable).flatMap(([dimension, rows]) =>
  (rows as readonly UnitRow[]).map(row => ({ ...row, dimension })),
)

/** Case-sensitive, as in the table. */
const byText = new Map<string, Unit>()
/** Case-insensitive and without blanks. Undefined where two units would match. */
const byKey = new Map<string, Unit | undefined>()
for (const unit of units) {
  for (const text of [unit.code, unit.sign, ...unit.aliases]) {
    const plain = plainSpelling(text)
    if (!byText.has(plain)) byText.set(plain, unit)
    const key = keyOf(plain)
    // `M` must not match metre, nor `T` tonne.
    if (key.length > 1) byKey.set(key, byKey.has(key) && byKey.get(key) !== unit ? undefined : unit)
  }
}

/** A longer text cannot be a unit. */
const textLengthMax = 32

/** Undefined for a text outside the table. `°F`, `℉`, `degF`, `F` and `[degF]` are the same unit. */
export function unitOf(text: string): Unit | undefined {
  if (text.length > textLengthMax) return undefined
  const plain = plainSpelling(text)
  return byText.get(plain) ?? byKey.get(keyOf(plain)) ?? degreesOfBrokenText(plain)
}

/** Display form of a unit. A code outside the table is returned unchanged. */
export function signOf(code: string): string {
  return byText.get(code)?.sign ?? code
}

/** Replaces signs that have several code points: `㎍/㎥` and `µg/m³` become `ug/m3`. */
function plainSpelling(text: string): string {
  return text.trim().replaceAll('º', '°').normalize('NFKC').replaceAll('μ', 'u')
}

function keyOf(plain: string): string {
  // Non-ASCII letters stay: a `µg` in a wrong encoding would lose its first letter and become a `g`.
  return plain.toLowerCase().replace(/[\s°^_.·()[\]'"-]/g, '')
}

/** `Â°C` is UTF-8 read as Latin-1, `\ufffdC` Latin-1 read as UTF-8. Both can only mean degrees. */
function degreesOfBrokenText(plain: string): Unit | undefined {
  const letters = plain.toLowerCase().replace(/[^a-z0-9%/]/g, '')
  if (letters === 'c') return byText.get('Cel')
  return letters === 'f' ? byText.get('[degF]') : undefined
}

type Conversion = { readonly ok: true; readonly convert: Convert } | { readonly ok: false; readonly reason: string }

/**
 * Converts from a sender's unit to the metric's unit (a code). An unknown unit or another dimension is refused with a reason that
 * names both. Affine: values in °F and K have another zero than values in °C.
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

/** Drops digits that are artefacts of the computation. */
function rounded(value: number): number {
  return Number(value.toPrecision(12))
}
