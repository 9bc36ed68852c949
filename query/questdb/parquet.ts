/**
 * Reads the one form of Parquet that QuestDB sends for columns of doubles without compression: flat, optional, plain. A
 * general reader takes ten times the processor time (43,200 rows of six columns: 2 ms here, 13 to 21 there, 40 over the
 * PostgreSQL protocol).
 */

/** The bytes are not a complete file of this form. */
export class ParquetUnreadable extends Error {}

/** The first and the last bytes of a file. */
export const parquetMagic = 'PAR1'
/** Length of the footer, and the magic again. */
const tailBytes = 8
const doubleBytes = 8
/** Precedes the levels of a page. */
const levelsLengthBytes = 4

/** Number in parquet.thrift. */
const typeDouble = 5
const codecNone = 0
const encodingPlain = 0
const pageOfData = 0
const fieldOf = {
  file: { rows: 3, groups: 4 },
  group: { columns: 1, rows: 3 },
  chunk: { meta: 3 },
  meta: { type: 1, codec: 4, dataOffset: 9 },
  page: { type: 1, bytes: 3, data: 5 },
  data: { values: 1, encoding: 2 },
}

/** The columns in their order, NaN where a value is missing. */
export function readDoubleColumns(file: Buffer, columnCount: number, rowsMax: number): Float64Array[] {
  try {
    return readColumns(file, columnCount, rowsMax)
  } catch (error) {
    // An offset outside the file, or an impossible value.
    if (error instanceof RangeError) throw new ParquetUnreadable(error.message)
    throw error
  }
}

function readColumns(file: Buffer, columnCount: number, rowsMax: number): Float64Array[] {
  const footerEnd = file.length - tailBytes
  expect(footerEnd > 0 && file.toString('latin1', footerEnd + 4) === parquetMagic, 'it has no end')
  const footer = new ThriftReader(file, footerEnd - file.readUInt32LE(footerEnd)).struct()
  const rowCount = numberIn(footer, fieldOf.file.rows)
  expect(rowCount <= rowsMax, 'it has more rows than were asked for')
  const columns = Array.from({ length: columnCount }, () => new Float64Array(rowCount))
  let row = 0
  for (const group of structsIn(footer, fieldOf.file.groups)) {
    const chunks = structsIn(group, fieldOf.group.columns)
    expect(chunks.length === columnCount, `it has ${chunks.length} columns`)
    const end = row + numberIn(group, fieldOf.group.rows)
    expect(end <= rowCount, 'a group has more rows than the file')
    for (const [index, chunk] of chunks.entries())
      readChunk(file, chunk, (columns[index] as Float64Array).subarray(row, end))
    row = end
  }
  expect(row === rowCount, 'rows are missing')
  return columns
}

/** The pages of one column in one group of rows. */
function readChunk(file: Buffer, chunk: ThriftStruct, values: Float64Array): void {
  const meta = structIn(chunk, fieldOf.chunk.meta)
  expect(numberIn(meta, fieldOf.meta.type) === typeDouble, 'a column is not of doubles')
  expect(numberIn(meta, fieldOf.meta.codec) === codecNone, 'a column is compressed')
  let at = numberIn(meta, fieldOf.meta.dataOffset)
  for (let row = 0; row < values.length; ) {
    const reader = new ThriftReader(file, at)
    const page = reader.struct()
    expect(numberIn(page, fieldOf.page.type) === pageOfData, 'a page of another kind')
    const data = structIn(page, fieldOf.page.data)
    expect(numberIn(data, fieldOf.data.encoding) === encodingPlain, 'a page is encoded')
    const next = row + numberIn(data, fieldOf.data.values)
    expect(next > row && next <= values.length, 'a page has more rows than its column')
    at = reader.position + numberIn(page, fieldOf.page.bytes)
    expect(at <= file.length, 'a page goes beyond the file')
    readPage(file.subarray(reader.position, at), values.subarray(row, next))
    row = next
  }
}

/** Definition levels come first, in runs of one kind or packed eight to a byte. The present values follow. */
function readPage(page: Buffer, values: Float64Array): void {
  const levels = new ThriftReader(page, levelsLengthBytes)
  let at = levelsLengthBytes + page.readUInt32LE(0)
  for (let row = 0; row < values.length; ) {
    const head = levels.unsigned()
    const runLength = head >>> 1
    if (head % 2 === 0) {
      const run = values.subarray(row, row + runLength)
      if (levels.byte() === 0) run.fill(Number.NaN)
      else at = copyDoubles(page, at, run)
      row += runLength
    } else {
      const end = Math.min(row + runLength * 8, values.length)
      for (; row < end; row += 8) at = readEight(page, at, levels.byte(), values.subarray(row, Math.min(row + 8, end)))
    }
  }
}

/** `present` has one bit for each value, the first in the lowest. */
function readEight(page: Buffer, start: number, present: number, values: Float64Array): number {
  if (present === 0xff && values.length === 8) return copyDoubles(page, start, values)
  let at = start
  for (let index = 0; index < values.length; index++) {
    const isPresent = (present >> index) % 2 === 1
    values[index] = isPresent ? page.readDoubleLE(at) : Number.NaN
    if (isPresent) at += doubleBytes
  }
  return at
}

/** Copied as bytes, since they may not be aligned for a Float64Array. Returns the end offset. */
function copyDoubles(page: Buffer, start: number, values: Float64Array): number {
  const end = start + values.byteLength
  expect(end <= page.length, 'values are missing')
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength).set(page.subarray(start, end))
  return end
}

function numberIn(struct: ThriftStruct, field: number): number {
  const value = struct[field]
  expect(typeof value === 'number' && value >= 0, `field ${field} is not a number`)
  return value
}

function structIn(struct: ThriftStruct, field: number): ThriftStruct {
  return asStruct(struct[field])
}

function structsIn(struct: ThriftStruct, field: number): ThriftStruct[] {
  const value = struct[field]
  expect(Array.isArray(value), `field ${field} is not a list`)
  return value.map(asStruct)
}

function asStruct(value: ThriftValue | undefined): ThriftStruct {
  expect(typeof value === 'object' && !Array.isArray(value) && !Buffer.isBuffer(value), 'a struct is missing')
  return value
}

function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new ParquetUnreadable(otherwise)
}

/** Thrift's compact protocol, in which a Parquet file describes itself: structs as fields by number. */

type ThriftValue = number | boolean | Buffer | ThriftValue[] | ThriftStruct
interface ThriftStruct {
  readonly [field: number]: ThriftValue | undefined
}

const typeOf = { yes: 1, no: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, binary: 8, list: 9, set: 10, struct: 12 }
/** Structs are nested only a few levels deep. This stops at bytes with another meaning. */
const depthMax = 16

class ThriftReader {
  readonly #bytes: Buffer
  #at: number
  #depth = 0

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  /** Offset of the next value. */
  get position(): number {
    return this.#at
  }

  struct(): ThriftStruct {
    if (++this.#depth > depthMax) throw new RangeError('structs nested too deeply')
    const fields: Record<number, ThriftValue> = {}
    let field = 0
    for (let head = this.byte(); head !== 0; head = this.byte()) {
      const step = head >> 4
      field = step === 0 ? this.#integer() : field + step
      fields[field] = this.#value(head & 15)
    }
    this.#depth--
    return fields
  }

  /** Exact below 2^53. */
  unsigned(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
      if (scale > Number.MAX_SAFE_INTEGER) throw new RangeError('number exceeds the safe integers')
    }
  }

  #value(type: number): ThriftValue {
    if (type === typeOf.yes || type === typeOf.no) return type === typeOf.yes
    if (type === typeOf.byte) return this.byte()
    if (type === typeOf.i16 || type === typeOf.i32 || type === typeOf.i64) return this.#integer()
    if (type === typeOf.double) return this.#take(8).readDoubleLE()
    if (type === typeOf.binary) return this.#take(this.unsigned())
    if (type === typeOf.list || type === typeOf.set) return this.#list()
    if (type === typeOf.struct) return this.struct()
    throw new RangeError(`unknown value type ${type}`)
  }

  #list(): ThriftValue[] {
    const head = this.byte()
    const length = head >> 4 === 15 ? this.unsigned() : head >> 4
    if (length > this.#bytes.length) throw new RangeError('list is longer than the file')
    return Array.from({ length }, () => this.#value(head & 15))
  }

  #integer(): number {
    const zigzag = this.unsigned()
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++)
  }

  #take(length: number): Buffer {
    const start = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw new RangeError('file ends within a value')
    return this.#bytes.subarray(start, this.#at)
  }
}
