/** Thrift's compact protocol, in which a Parquet file describes itself: structs as fields by number. */

export type ThriftValue = number | boolean | Buffer | ThriftValue[] | ThriftStruct
export interface ThriftStruct {
  readonly [field: number]: ThriftValue | undefined
}

const typeOf = { yes: 1, no: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, binary: 8, list: 9, set: 10, struct: 12 }
/** Structs are nested only a few levels deep. This stops at bytes with another meaning. */
const depthMax = 16

export class ThriftReader {
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
