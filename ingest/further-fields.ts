/** Fields of a reading that have no column: which of them may be values of metrics, and what becomes of each. */

import { type Fields, isColumnField, shortenedName } from './field-names.ts'
import type { FurtherValues } from './journal/record.ts'

/** Fields that may be values of metrics, as they were sent. */
export interface FurtherFields {
  readonly names: readonly string[]
  /** As many. */
  readonly values: readonly number[]
}

/** What becomes of a field of a device: values within its range are stored in its series, others refuse their reading. */
export interface FurtherField {
  /** The number of the series of the device's metric. */
  readonly series: number
  readonly min: number
  readonly max: number
}

/** What becomes of a field; undefined when it is stored as no metric, and is named as ignored. */
export type FurtherFieldOf = (name: string) => FurtherField | undefined

/** Of one reading. More than twice as many as a device may have metrics; what stands behind them is not looked at. */
const fieldsMax = 150

/** The fields that have no column and are numbers or booleans, which are 1 and 0; undefined when there are none. */
export function furtherFieldsOf(fields: Fields): FurtherFields | undefined {
  let found: { names: string[]; values: number[] } | undefined
  for (const name in fields) {
    if (isColumnField(name)) continue
    const value = numberOf(fields[name])
    if (value === undefined) continue
    found ??= { names: [], values: [] }
    found.names.push(name)
    found.values.push(value)
    if (found.names.length === fieldsMax) break
  }
  return found
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'boolean') return value ? 1 : 0
  return undefined
}

export interface TakenFields {
  /** Undefined when there are none. */
  readonly further: FurtherValues | undefined
  /** Names that are stored as no metric. */
  readonly ignored: readonly string[]
  /** Why a value is refused, by its name; its reading is refused with it. Undefined when none is. */
  readonly errors: Readonly<Record<string, string>> | undefined
}

/** Two names of one metric (`co2`, `co2_ppm`) are one value: the last one, as with a name that stands twice. */
export function takeFields({ names, values }: FurtherFields, fieldOf: FurtherFieldOf): TakenFields {
  const series: number[] = []
  const taken: number[] = []
  const ignored: string[] = []
  let errors: Record<string, string> | undefined
  for (const [index, name] of names.entries()) {
    const field = fieldOf(name)
    const value = values[index] as number
    if (field === undefined) {
      ignored.push(name)
    } else if (value < field.min || value > field.max) {
      errors = { ...errors, [name]: furtherRangeReason(field) }
    } else {
      const before = series.indexOf(field.series)
      if (before === -1) series.push(field.series)
      taken[before === -1 ? series.length - 1 : before] = value
    }
  }
  return { further: series.length === 0 ? undefined : { series, values: taken }, ignored, errors }
}

/** Why a field cannot be stored that stands for no metric of its device, and what to do about it. */
export function unknownFieldReason(name: string): string {
  return `field ${shortenedName(name)} is not known: add it by "barograph metrics add", or to the metrics that the device lists`
}

/** The same of an entity of Home Assistant. */
export function unknownEntityReason(id: string): string {
  return `entity ${id} is no metric: add the ending of its name by "barograph metrics add"`
}

/** One of the limits may be infinite. */
export function furtherRangeReason({ min, max }: FurtherField): string {
  if (max === Number.POSITIVE_INFINITY) return `must be at least ${min}`
  return min === Number.NEGATIVE_INFINITY ? `must be at most ${max}` : `must be between ${min} and ${max}`
}
