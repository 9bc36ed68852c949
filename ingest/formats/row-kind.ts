/**
 * The kinds of rows in bulk bodies. Line readers, the columns passed between threads and the encoder know the rows of a table
 * only through this interface.
 */

import type { Fields } from '../field-names.ts'
import type { CustomValues, RecordWriter, Timed } from '../journal/record.ts'
import type { Errors, Ranges } from '../reading.ts'
import type { ReadingDevice } from '../whole-reading.ts'
import type { RejectCode, Subject } from './reject.ts'

/** A column of a CSV body. */
export interface Column {
  readonly name: string
  /** Syntax of its cells: `time` with a zone, or as a number of milliseconds; `utc time` also without a zone. */
  readonly cell: 'time' | 'utc time' | 'text' | 'number'
  readonly isRequired: boolean
}

/** The series of a row, as its record needs it. */
export interface Series {
  readonly number: number
  readonly symbol: string
  /** List of the device, if it has one. */
  readonly metrics?: readonly string[] | null
  /** Registered devices have the sequence number of their last change. */
  readonly authSeq?: number
}

/** Fields of a row without a column. */
export interface OtherFields {
  /** Names of the stored fields. Before fields are resolved: names of possibly stored ones. */
  readonly stored: Iterable<string>
  /** Names of possible metrics, while unresolved. */
  readonly sighted: readonly string[]
  /** Names that are metrics only where the device lists them. */
  readonly ifListed: readonly string[]
  /** The first names of fields that are not stored. */
  readonly ignored: readonly string[]
  /** The fields of the row, before they are resolved. */
  readonly fields: Fields | undefined
  /** Their values, once their series are known. */
  readonly custom: CustomValues | undefined
}

/** A row that passed its check. */
export interface CheckedRow<Values> {
  ok: true
  /** The names that identify its series, the first of them for rejects. Valid until the next check. */
  names: readonly string[]
  /** Possibly with microseconds, as a fraction. */
  timestampMs: number
  values: Values
  others?: OtherFields | undefined
  /** Reasons of omitted values, by field. */
  outOfRange?: Errors | undefined
}

export interface RefusedRow {
  ok: false
  /** The first of the names, if the row was read that far. */
  name: string | undefined
  reason: string
  others?: OtherFields | undefined
}

/** Looks for fields without a column only where `hasOthers` is true. */
export type RowCheck<Values> = (fields: Fields, nowMs: number, hasOthers: boolean) => CheckedRow<Values> | RefusedRow

/** The options of all kinds, so that a task for the thread has one shape. */
export interface RowCheckOptions {
  /** Ranges of the readings' values. */
  ranges: Ranges
  /** Limit of times ahead of `nowMs`. */
  aheadMsMax: number
  /** Earliest time of a reading. Default: the year 2000. */
  earliestMs?: number | undefined
  /** Past times of readings keep their microseconds. */
  keepsMicroseconds?: boolean | undefined
  /** The device of readings that name none. */
  defaultDevice?: string | undefined
  /** The device of a name. Without it, devices are not resolved yet. */
  deviceOf?: ((name: string) => ReadingDevice) | undefined
}

export interface RowKind<Values extends Timed> {
  /** Noun for a row in texts. */
  readonly noun: 'reading' | 'point'
  readonly columns: readonly Column[]
  /** True when rows may have values without a column. */
  readonly hasCustom: boolean
  /** Key of the first name in a reject. */
  readonly subject: Subject
  /** Code of a row that fails the check. */
  readonly invalidCode: RejectCode
  /** Minimum length of a line with a row, which bounds the rows of a chunk before it is read. */
  readonly lineBytesMin: number
  createCheck(options: RowCheckOptions): RowCheck<Values>
  /** Number of doubles in a row besides its time. */
  readonly valuesPerRow: number
  /** Writes the values of a row into `doubles`, from `at` on. */
  put(doubles: Float64Array, at: number, values: Values): void
  /** An object for `take` to fill. */
  createValues(nowMs: number): Values
  /** Reads the result of `put` back into `values`. */
  take(doubles: Float64Array, at: number, timestampMs: number, values: Values): void
  /** Sets or removes the values without a column. */
  setCustom?(values: Values, custom: CustomValues | undefined): void
  readonly writer: RecordWriter<Series, Values>
}
