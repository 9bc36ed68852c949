/**
 * What bulk bodies hold. The readers of lines, the columns that travel between the threads and the encoder know the rows
 * of a table only by this.
 */

import type { Fields } from '../field-names.ts'
import type { RecordWriter, Timed } from '../journal/record.ts'
import type { Ranges } from '../reading.ts'
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
}

/** A row that passed its check. */
export interface CheckedRow<Values> {
  ok: true
  /** The names that tell its series, the first of them for rejects. Valid until the next check. */
  names: readonly string[]
  /** Perhaps with microseconds, as a fraction. */
  timestampMs: number
  values: Values
}

export interface RefusedRow {
  ok: false
  /** The first of the names, if the row was read that far. */
  name: string | undefined
  reason: string
}

export type RowCheck<Values> = (fields: Fields, nowMs: number) => CheckedRow<Values> | RefusedRow

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
}

export interface RowKind<Values extends Timed> {
  /** What a row is, for people. */
  readonly noun: 'reading' | 'point'
  readonly columns: readonly Column[]
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
  readonly writer: RecordWriter<Series, Values>
}
