/**
 * The record: one row of a table in the journal, little endian.
 *
 * | offset | size | content |
 * | --- | --- | --- |
 * | 0 | 2 | length of the whole record |
 * | 2 | 1 | kind: the table's; 1 is a reading |
 * | 3 | 1 | flags: bit 0 for the backfill lane, bit 1 for a client's time with microseconds, bit 2 for custom values |
 * | 4 | 4 | number of the series: of the device, for a reading |
 * | 8 | 8 | time in epoch microseconds, an integer in a double |
 * | 16 | 8 each | the values of the table's columns: doubles, NaN for a missing one |
 * | … | … | each symbol: a byte with its length, and as many bytes, escaped as in line protocol |
 * | … | 12 each | each custom value: the number of its own series, 4 bytes, and a double, NaN for an erased one |
 * | end - 1 | 1 | number of custom values; these and their number exist only with bit 2 of the flags |
 *
 * The record contains the symbols, so a row reaches the database even when its series was removed meanwhile.
 */

import { symbolColumns, type TableDescription } from '../table.ts'

const flagBackfill = 1
const flagFineTime = 2
const flagCustom = 4
const customValueLength = 12

export const offsetOf = { length: 0, kind: 2, flags: 3, series: 4, timeUs: 8, values: 16 } as const

/** Offsets in the records of a table. */
export interface RecordLayout {
  readonly kind: number
  readonly symbolsAt: number
  readonly symbolCount: number
  readonly lengthMin: number
  readonly lengthMax: number
}

export function layoutOf(table: TableDescription): RecordLayout {
  const symbolsAt = offsetOf.values + 8 * table.columns.length
  const symbolCount = symbolColumns(table).length
  const lengthMin = symbolsAt + symbolCount
  const lengthMax = lengthMin + table.symbolBytesMax
  return { kind: table.recordKind, symbolsAt, symbolCount, lengthMin, lengthMax }
}

/** Content of a record besides its series. */
export interface Timed {
  /** Epoch milliseconds. Undefined for the time of receipt. */
  readonly timestampMs: number | undefined
}

/** Writes the records of one table. */
export interface RecordWriter<Series, Values extends Timed> {
  /** Length of a record. */
  length(series: Series, values: Values): number
  /** Writes a record at `offset` and returns the offset after it. The caller has checked that there is room. */
  write(view: DataView, offset: number, series: Series, timeUs: number, isBackfill: boolean, values: Values): number
}

/** Writes the fields before the values. */
export function writeHeader(
  view: DataView,
  offset: number,
  length: number,
  kind: number,
  series: number,
  timeUs: number,
  isBackfill: boolean,
): void {
  view.setUint16(offset, length, true)
  view.setUint8(offset + offsetOf.kind, kind)
  view.setUint8(offset + offsetOf.flags, isBackfill ? flagBackfill : 0)
  view.setUint32(offset + offsetOf.series, series, true)
  view.setFloat64(offset + offsetOf.timeUs, timeUs, true)
}

/** Writes a symbol, escaped, and returns the offset after it. */
export function writeSymbol(view: DataView, offset: number, symbol: Uint8Array): number {
  view.setUint8(offset, symbol.length)
  new Uint8Array(view.buffer, view.byteOffset + offset + 1, symbol.length).set(symbol)
  return offset + 1 + symbol.length
}

/** Values of a record without a column in its table, by the numbers of their own series. */
export interface CustomValues {
  readonly series: readonly number[]
  /** One value for each series. */
  readonly values: readonly number[]
}

/** Length of this many custom values at the end of a record. */
export function customLength(count: number): number {
  return count === 0 ? 0 : count * customValueLength + 1
}

/** Writes at least one custom value after the symbols of the record at `offset`, and returns the offset after them. */
export function writeCustom(view: DataView, offset: number, at: number, { series, values }: CustomValues): number {
  view.setUint8(offset + offsetOf.flags, view.getUint8(offset + offsetOf.flags) | flagCustom)
  let next = at
  for (let index = 0; index < series.length; index++) {
    view.setUint32(next, series[index] as number, true)
    view.setFloat64(next + 4, values[index] as number, true)
    next += customValueLength
  }
  view.setUint8(next, series.length)
  return next + 1
}

/** Number of custom values of the record at `offset`. */
export function customCount(view: DataView, offset: number): number {
  if ((view.getUint8(offset + offsetOf.flags) & flagCustom) === 0) return 0
  return view.getUint8(offset + view.getUint16(offset + offsetOf.length, true) - 1)
}

/** Offset of the first of `count` custom values of the record at `offset`. They are 12 bytes apart. */
export function customAt(view: DataView, offset: number, count: number): number {
  return offset + view.getUint16(offset + offsetOf.length, true) - customLength(count)
}

/** Represents a custom series in lists of erased series: a number that no series of records has, since these are above 0. */
export function erasedCustom(series: number): number {
  return -series
}

/** Erases the custom values of erased series from the record at `offset`. */
export function eraseCustom(view: DataView, offset: number, isErased: (number: number) => boolean): void {
  const count = customCount(view, offset)
  const firstAt = customAt(view, offset, count)
  for (let index = 0; index < count; index++) {
    const at = firstAt + index * offsetInCustom.next
    const series = view.getUint32(at + offsetInCustom.series, true)
    if (isErased(erasedCustom(series))) view.setFloat64(at + offsetInCustom.value, Number.NaN, true)
  }
}

/** Offsets within a custom value, and its length. */
export const offsetInCustom = { series: 0, value: 4, next: customValueLength } as const

export function isBackfill(view: DataView, offset: number): boolean {
  return (view.getUint8(offset + offsetOf.flags) & flagBackfill) !== 0
}

/** Marks a record whose time has a fraction of a millisecond but is not one of our stamps. */
export function markFineTime(view: DataView, offset: number): void {
  view.setUint8(offset + offsetOf.flags, view.getUint8(offset + offsetOf.flags) | flagFineTime)
}

export function hasFineTime(view: DataView, offset: number): boolean {
  return (view.getUint8(offset + offsetOf.flags) & flagFineTime) !== 0
}

/** A value without a column, with the number of its own series. */
export interface CustomValue {
  series: number
  value: number
}

/** A decoded record, for dead letters and tests. The forwarder reads its fields in place. */
export interface RecordFields {
  series: number
  symbols: string[]
  timeUs: number
  isBackfill: boolean
  values: Record<string, number>
  custom: CustomValue[]
}

export function readRecord(table: TableDescription, view: DataView, offset: number): RecordFields {
  const { symbolsAt, symbolCount } = layoutOf(table)
  const symbols: string[] = []
  for (let at = offset + symbolsAt; symbols.length < symbolCount; ) {
    const length = view.getUint8(at)
    symbols.push(unescapeText(new Uint8Array(view.buffer, view.byteOffset + at + 1, length)))
    at += 1 + length
  }
  const values = table.columns.map(({ name }, index) => {
    return [name, view.getFloat64(offset + offsetOf.values + 8 * index, true)] as const
  })
  return {
    series: view.getUint32(offset + offsetOf.series, true),
    symbols,
    timeUs: view.getFloat64(offset + offsetOf.timeUs, true),
    isBackfill: isBackfill(view, offset),
    values: Object.fromEntries(values),
    custom: readCustom(view, offset),
  }
}

function readCustom(view: DataView, offset: number): CustomValue[] {
  const count = customCount(view, offset)
  const firstAt = customAt(view, offset, count)
  return Array.from({ length: count }, (_, index) => {
    const at = firstAt + index * offsetInCustom.next
    const series = view.getUint32(at + offsetInCustom.series, true)
    return { series, value: view.getFloat64(at + offsetInCustom.value, true) }
  })
}

/** True when the bytes from `start` to `end` are exactly whole records. */
export function areWholeRecords(view: DataView, start: number, end: number): boolean {
  let offset = start
  while (offset < end) {
    if (end - offset < offsetOf.values) return false
    const length = view.getUint16(offset, true)
    if (length < offsetOf.values || offset + length > end) return false
    offset += length
  }
  return offset === end
}

/** Times that precede the receipt by more than this belong to the backfill lane. */
export const liveWindowUs = 5 * 60 * 1_000_000

/** Flags the records in `length` bytes from `start` on as late or live, by their times. Returns the number of late ones. */
export function chooseLanes(
  view: DataView,
  start: number,
  length: number,
  isLate: (timeUs: number) => boolean,
): { recordCount: number; backfillCount: number } {
  let recordCount = 0
  let backfillCount = 0
  for (let offset = start; offset < start + length; offset += view.getUint16(offset + offsetOf.length, true)) {
    const late = isLate(view.getFloat64(offset + offsetOf.timeUs, true))
    const flags = view.getUint8(offset + offsetOf.flags)
    view.setUint8(offset + offsetOf.flags, late ? flags | flagBackfill : flags & ~flagBackfill)
    recordCount++
    if (late) backfillCount++
  }
  return { recordCount, backfillCount }
}

/** Returns whole records without some series, or the same array when it has none. */
export function withoutSeries(records: Uint8Array, numbers: ReadonlySet<number>): Uint8Array {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const kept: Uint8Array[] = []
  let keptFrom = 0
  for (let offset = 0; offset < records.length; ) {
    const next = offset + view.getUint16(offset + offsetOf.length, true)
    if (numbers.has(view.getUint32(offset + offsetOf.series, true))) {
      kept.push(records.subarray(keptFrom, offset))
      keptFrom = next
    }
    offset = next
  }
  return kept.length === 0 ? records : Buffer.concat([...kept, records.subarray(keptFrom)])
}

/** Marks a binary double, after a second equals sign. */
export const binaryDouble = 16

/** Escapes a name or a symbol for line protocol. */
export function escapeText(text: string): Buffer {
  return Buffer.from(
    text.replace(/[ ,=\n\r\\]/g, character => `\\${character}`),
    'utf8',
  )
}

function unescapeText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('utf8')
    .replace(/\\([ ,=\n\r\\])/g, '$1')
}
