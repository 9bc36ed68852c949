/** A reading with all that it has: its columns as they were checked, and its other fields as the registry knows them. */

import { type Fields, isColumnField } from './field-names.ts'
import { type FurtherFieldOf, type TakenFields, takeFields } from './further-fields.ts'
import {
  type Checked,
  type Errors,
  emptyErrors,
  hasNoColumn,
  missingReason,
  noNumberReason,
  type Reading,
} from './reading.ts'

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
  const missing = device.metrics === null ? undefined : missingErrors(fields, device.metrics, device.nameOf)
  if (!checked.ok || missing !== undefined || taken.errors !== undefined) {
    return { ok: false, errors: { ...(checked.ok ? undefined : checked.errors), ...missing, ...taken.errors } }
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

/** Why a reading lacks metrics without a column that its device lists; undefined when it has them all. */
function missingErrors(
  fields: Fields,
  metrics: readonly string[],
  nameOf: ReadingDevice['nameOf'],
): Errors | undefined {
  const listed = metrics.filter(name => !isColumnField(name))
  if (listed.length === 0) return undefined
  const given = new Map<string, string>()
  for (const field in fields) {
    const name = nameOf(field)
    if (name !== undefined) given.set(name, field)
  }
  let errors: Errors | undefined
  for (const name of listed) {
    const field = given.get(name)
    if (field === undefined) errors = { ...errors, [name]: missingReason }
    else if (!isValue(fields[field])) errors = { ...errors, [field]: noNumberReason }
  }
  return errors
}

function isValue(value: unknown): boolean {
  return value === null || typeof value === 'boolean' || Number.isFinite(value)
}
