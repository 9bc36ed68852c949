/** A reading with all that it has: its columns as they were checked, and its other fields as the registry knows them. */

import { type Fields, isColumnField } from './field-names.ts'
import { type FurtherFieldOf, type TakenFields, takeFields } from './further-fields.ts'
import { type Checked, type Errors, emptyErrors, hasNoColumn, noNumberReason, type Reading } from './reading.ts'

/** What is known of the device of a reading. */
export interface ReadingDevice {
  /** The list of what it has; null for whatever it sends. */
  metrics: readonly string[] | null
  fieldOf: FurtherFieldOf
  /** The name of the metric that a field stands for. */
  nameOf: (field: string) => string | undefined
}

/** `further`: the fields without a column that are in the reading. */
export type WholeReading = { ok: true; reading: Reading; further: ReadonlySet<string> } | { ok: false; errors: Errors }

const noFields: ReadonlySet<string> = new Set()
const nothingTaken: TakenFields = { further: undefined, ignored: [], errors: undefined }

/** `checked` is what the check says of the same fields. A reading is whole only when all of its values are accepted. */
export function wholeReading(checked: Checked, fields: Fields, device: ReadingDevice): WholeReading {
  const names = checked.further?.names ?? []
  const taken = checked.further === undefined ? nothingTaken : takeFields(checked.further, device.fieldOf)
  const noNumbers = device.metrics === null ? undefined : noNumberErrors(fields, device.metrics, device.nameOf)
  if (!checked.ok || noNumbers !== undefined || taken.errors !== undefined) {
    return { ok: false, errors: { ...(checked.ok ? undefined : checked.errors), ...noNumbers, ...taken.errors } }
  }
  const { reading } = checked
  if (taken.further === undefined && hasNoColumn(reading)) {
    return { ok: false, errors: emptyErrors(device.metrics, taken.ignored[0]) }
  }
  reading.further = taken.further
  const ignored = new Set(taken.ignored)
  const further = taken.further === undefined ? noFields : new Set(names.filter(name => !ignored.has(name)))
  return { ok: true, reading, further }
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
