/**
 * What bulk bodies hold. The readers of lines, the columns that travel between the threads and the encoder know the rows
 * of a table only by this.
 */

import type { Fields } from '../field-names.ts'
import type { CustomValues, RecordWriter, Timed } from '../journal/record.ts'
import type { Errors, Ranges } from '../reading.ts'
import type { ReadingDevice } from '../whole-reading.ts'
import type { RejectCode, Subject } from './reject.ts'

/** A column of a CSV body. */
export interface Column {
  readonly name: string
  /** How its cells are read: `time` with a zone, or as a number of milliseconds; `utc time` also without a zone. */
  readonly cell: 'time' | 'utc time' | 'text' | 'number'
  readonly isRequired: boolean
}

/** The series of a row: what the record needs to know of it. */
export interface Series {
  readonly number: number
  readonly symbol: string
  /** Of a device that lists what it has. */
  readonly metrics?: readonly string[] | null
  /** Of a device of the registry: the sequence number of its last change. */
  readonly authSeq?: number
}

/** Fields of a row that have no column. */
export interface OtherFields {
  /** Names of those that are stored; before it is known what becomes of them, of those that may be. */
  readonly stored: Iterable<string>
  /** Names of those that may be values of metrics, while that is not known. */
  readonly sighted: readonly string[]
  /** Names of those that are values of metrics only where the device lists them. */
  readonly ifListed: readonly string[]
  /** Names of those that are stored as no metric; the first ones. */
  readonly ignored: readonly string[]
  /** The fields of the row, before it is known what becomes of them. */
  readonly fields: Fields | undefined
  /** Their values, when it is known in which series. */
  readonly custom: CustomValues | undefined
}

/** A row that passed its check. */
export interface CheckedRow<Values> {
  ok: true
  /** The names that tell its series, the first of them for rejects. Valid until the next check. */
  names: readonly string[]
  /** Perhaps with microseconds, as a fraction. */
  timestampMs: number
  values: Values
  others?: OtherFields | undefined
  /** Why values are left out of the row, by field. */
  outOfRange?: Errors | undefined
}

export interface RefusedRow {
  ok: false
  /** The first of the names, if the row was read that far. */
  name: string | undefined
  reason: string
  others?: OtherFields | undefined
}

/** Fields without a column are looked for only where there may be some (`hasOthers`). */
export type RowCheck<Values> = (fields: Fields, nowMs: number, hasOthers: boolean) => CheckedRow<Values> | RefusedRow

/** Of all kinds, so that a task for the thread is the same for each. */
export interface RowCheckOptions {
  /** What readings may hold. */
  ranges: Ranges
  /** How far a time may lie ahead of `nowMs`. */
  aheadMsMax: number
  /** No time of a reading is earlier; without it the year 2000. */
  earliestMs?: number | undefined
  /** Whether times of readings that have passed keep their microseconds. */
  keepsMicroseconds?: boolean | undefined
  /** The device of readings that name none. */
  defaultDevice?: string | undefined
  /** What is known of the device of a name; without it, that is not known yet. */
  deviceOf?: ((name: string) => ReadingDevice) | undefined
}

export interface RowKind<Values extends Timed> {
  /** What a row is, for people. */
  readonly noun: 'reading' | 'point'
  readonly columns: readonly Column[]
  /** Whether rows may have values without a column. */
  readonly hasCustom: boolean
  /** What a reject calls the first of the names. */
  readonly subject: Subject
  /** The code of a row that does not pass the check. */
  readonly invalidCode: RejectCode
  /** No line with a row is shorter, so this bounds the rows of a chunk before it is read. */
  readonly lineBytesMin: number
  createCheck(options: RowCheckOptions): RowCheck<Values>
  /** How many doubles a row has besides its time. */
  readonly valuesPerRow: number
  /** Writes the values of a row into `doubles`, from `at` on. */
  put(doubles: Float64Array, at: number, values: Values): void
  /** An object for `take` to fill. */
  createValues(nowMs: number): Values
  /** Reads back into `values` what `put` has written. */
  take(doubles: Float64Array, at: number, timestampMs: number, values: Values): void
  /** Gives them values without a column, or takes those away that they had. */
  setCustom?(values: Values, custom: CustomValues | undefined): void
  readonly writer: RecordWriter<Series, Values>
}
