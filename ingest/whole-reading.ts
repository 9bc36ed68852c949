/** A complete reading: its checked columns, and its other fields by the registry. */

import { type CustomFieldOf, type TakenFields, takeFields } from './custom-fields.ts'
import { type Fields, isColumnField, type StoredFields } from './field-names.ts'
import { type Checked, type Errors, emptyErrors, hasNoColumn, noNumberReason, type Reading } from './reading.ts'

/** The device of a reading, as the registry knows it. */
export interface ReadingDevice {
  /** Its list of metrics. Null allows all. */
  metrics: readonly string[] | null
  fieldOf: CustomFieldOf
  /** Name of the metric for a field. */
  nameOf: (field: string) => string | undefined
}

export type WholeReading = ({ ok: true; reading: Reading } & StoredFields) | { ok: false; errors: Errors }

const noFields: ReadonlySet<string> = new Set()
const nothingTaken: TakenFields = { custom: undefined, ignored: [], outOfRange: undefined }

/** `checked` is the check's result for the same fields. A reading without its values out of range needs another value. */
export function wholeReading(checked: Checked, fields: Fields, device: ReadingDevice): WholeReading {
  const names = checked.custom?.names ?? []
  const taken = checked.custom === undefined ? nothingTaken : takeFields(checked.custom, device.fieldOf)
  const noNumbers = device.metrics === null ? undefined : noNumberErrors(fields, device.metrics, device.nameOf)
  if (!checked.ok || noNumbers !== undefined) {
    return {
      ok: false,
      errors: { ...(checked.ok ? checked.outOfRange : checked.errors), ...noNumbers, ...taken.outOfRange },
    }
  }
  const { reading, aliases } = checked
  const outOfRange =
    taken.outOfRange === undefined ? checked.outOfRange : { ...checked.outOfRange, ...taken.outOfRange }
  if (taken.custom === undefined && hasNoColumn(reading)) {
    return { ok: false, errors: outOfRange ?? emptyErrors(device.metrics, taken.ignored[0]) }
  }
  reading.custom = taken.custom
  if (taken.custom === undefined && aliases.length === 0) return { ok: true, reading, stored: noFields, outOfRange }
  const ignored = new Set(taken.ignored)
  const stored = new Set([...aliases, ...names.filter(name => !ignored.has(name))])
  return { ok: true, reading, stored, outOfRange }
}

/** Errors of listed metrics whose fields hold neither a number nor null. Undefined without any. */
function noNumberErrors(
  fields: Fields,
  metrics: readonly string[],
  nameOf: ReadingDevice['nameOf'],
): Errors | undefined {
  let errors: Errors | undefined
  for (const field in fields) {
    if (isColumnField(field) || isValue(fields[field])) continue
    const name = nameOf(field)
    if (name !== undefined && metrics.includes(name)) errors = { ...errors, [field]: noNumberReason }
  }
  return errors
}

function isValue(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'boolean' || Number.isFinite(value)
}
