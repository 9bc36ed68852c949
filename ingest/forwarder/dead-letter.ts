/** A dead letter: the stored form of a row that QuestDB rejects as invalid, in any storage. */

import {
  type CustomValue,
  eraseCustom,
  erasedCustom,
  layoutOf,
  offsetOf,
  type RecordFields,
  readRecord,
} from '../journal/record.ts'
import type { TableDescription } from '../table.ts'

export interface DeadLetter {
  /** Orders the dead letters of one table as their records in the journal. */
  id: number
  /** Time of the rejection, ISO 8601. */
  at: string
  reason: string
  /** Number of the series: of the device, or of the station's parameter. */
  series: number
  /** The symbols of the row, separated by blanks. */
  symbol: string
  /** Time of the row, ISO 8601 with microseconds, or the bare number when it is not a date. */
  time: string
  values: Record<string, number | null>
  /** Values without a column, by the numbers of their series. */
  further?: CustomValue[]
  /** The record as it was in the journal, base64. */
  record: string
}

/** An unreadable dead letter, which can only be discarded. */
interface DamagedLetter {
  id: number
  /** The name of its file, or the topic and the id in PostgreSQL. */
  name: string
  damage: string
}

export type ListedLetter = DeadLetter | DamagedLetter

export function isWhole(letter: ListedLetter): letter is DeadLetter {
  return !('damage' in letter)
}

/** Per table. Beyond this the forwarder stops and reports an issue: this many rejections indicate a bug, not bad rows. */
export const deadLettersMax = 10_000

export function deadLetterOf(
  table: TableDescription,
  id: number,
  record: Uint8Array,
  reason: string,
  nowMs: number,
): DeadLetter {
  const fields = readRecord(table, viewOf(record), 0)
  return {
    id,
    at: new Date(nowMs).toISOString(),
    reason,
    series: fields.series,
    symbol: fields.symbols.join(' '),
    time: formatTimeUs(fields.timeUs),
    values: valuesOf(fields),
    ...customOf(fields),
    record: Buffer.from(record).toString('base64'),
  }
}

/**
 * Removes erased series from a dead letter, custom ones given as `erasedCustom` numbers. Returns undefined when its own series is
 * erased. Throws when its record is damaged.
 */
export function withoutErased(
  table: TableDescription,
  letter: DeadLetter,
  erased: Pick<ReadonlySet<number>, 'has'>,
): DeadLetter | 'unchanged' | 'nothing' {
  const { further, ...rest } = letter
  if (erased.has(letter.series)) return 'nothing'
  if (!further?.some(({ series }) => erased.has(erasedCustom(series)))) return 'unchanged'
  const record = recordOf(table, letter)
  const view = viewOf(record)
  eraseCustom(view, 0, number => erased.has(number))
  return { ...rest, ...customOf(readRecord(table, view, 0)), record: record.toString('base64') }
}

/** The record of a dead letter, for appending it again. Throws when it is damaged. */
export function recordOf(table: TableDescription, letter: Pick<DeadLetter, 'record'>): Buffer {
  const record = Buffer.from(letter.record, 'base64')
  const { kind, lengthMin } = layoutOf(table)
  const isWhole = record.length >= lengthMin && record.readUInt16LE(offsetOf.length) === record.length
  if (!isWhole || record[offsetOf.kind] !== kind) throw new Error(`it holds no record of ${table.name}`)
  return record
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Values that were not erased. */
function customOf(fields: RecordFields): Pick<DeadLetter, 'further'> {
  const further = fields.custom.filter(({ value }) => !Number.isNaN(value))
  return further.length === 0 ? {} : { further }
}

function valuesOf({ values }: RecordFields): Record<string, number | null> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number.isNaN(value) ? null : value]))
}

function formatTimeUs(timeUs: number): string {
  const date = new Date(Math.floor(timeUs / 1000))
  if (Number.isNaN(date.getTime())) return String(timeUs)
  const micros = String(((timeUs % 1000) + 1000) % 1000).padStart(3, '0')
  return date.toISOString().replace('Z', `${micros}Z`)
}
