/** A reading with all that it has: its columns as they were checked, and its other fields as the registry knows them. */

import { type CustomFieldOf, type TakenFields, takeFields } from './custom-fields.ts'
import { type Fields, isColumnField, type StoredFields } from './field-names.ts'
import { type Checked, type Errors, emptyErrors, hasNoColumn, noNumberReason, type Reading } from './reading.ts'

/** What is known of the device of a reading. */
export interface ReadingDevice {
  /** The list of what it has; null for whatever it sends. */
  metrics: readonly string[] | null
  fieldOf: CustomFieldOf
  /** The name of the metric that a field stands for. */
  nameOf: (field: string) => string | undefined
}

export type WholeReading = ({ ok: true; reading: Reading } & StoredFields) | { ok: false; errors: Errors }

const noFields: ReadonlySet<string> = new Set()
const nothingTaken: TakenFields = { custom: undefined, ignored: [], outOfRange: undefined }

/** `checked` is what the check says of the same fields. Values out of range are left out; a reading has another one. */
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

/** Fields that are metrics of the device's list and hold neither a number nor null; undefined when there are none. */
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
