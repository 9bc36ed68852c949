/**
 * Reads Protocol Buffers (protobuf.dev/programming-guides/encoding) by a schema of the wanted fields. Generated code of a library
 * is longer than this file, keeps all other fields too, and has no limit for the number of values.
 */

/** `int64` and `fixed64` are numbers, exact up to 2^53. */
type Scalar = 'text' | 'double' | 'int64' | 'fixed64' | 'sfixed64'

interface Field {
  readonly name: string
  readonly type: Scalar | Schema
  readonly isList?: boolean
}

/** Wanted fields by their numbers. All others are skipped. */
export interface Schema {
  readonly [number: number]: Field
}

export type Decoded = { readonly [name: string]: unknown }

/** The bytes are not a message of the schema, or have too many values. */
export class ProtobufError extends Error {}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const varint = 0
const eightBytes = 1
const lengthDelimited = 2
const fourBytes = 5
const wireTypes: Record<Scalar, number> = {
  text: lengthDelimited,
  double: eightBytes,
  int64: varint,
  fixed64: eightBytes,
  sfixed64: eightBytes,
}

/** Depth is limited by the schema, memory by `valuesMax`. Throws `ProtobufError`. */
export function readProtobuf(bytes: Buffer, schema: Schema, valuesMax: number): Decoded {
  const reader = new Reader(bytes, valuesMax)
  return reader.message(schema, bytes.length)
}

class Reader {
  readonly #bytes: Buffer
  #at = 0
  #valuesLeft: number

  constructor(bytes: Buffer, valuesMax: number) {
    this.#bytes = bytes
    this.#valuesLeft = valuesMax
  }

  message(schema: Schema, end: number): Decoded {
    const message: Record<string, unknown> = {}
    while (this.#at < end) {
      const tag = this.#count()
      const field = schema[tag >>> 3]
      if (field === undefined) this.#skip(tag & 7, end)
      else this.#take(message, field, tag & 7, end)
    }
    if (this.#at !== end) throw new ProtobufError('a message is longer than its length')
    return message
  }

  #take(message: Record<string, unknown>, { name, type, isList }: Field, wireType: number, end: number): void {
    if (this.#valuesLeft-- === 0) throw new ProtobufError('the body has too many values')
    const expected = typeof type === 'string' ? wireTypes[type] : lengthDelimited
    if (wireType !== expected) throw new ProtobufError(`${name} has another wire type`)
    const value = typeof type === 'string' ? this.#scalar(type, end) : this.message(type, this.#lengthEnd(end))
    const list = message[name] as unknown[] | undefined
    if (isList !== true) message[name] = value
    else if (list === undefined) message[name] = [value]
    else list.push(value)
  }

  #scalar(type: Scalar, end: number): unknown {
    if (type === 'int64') return this.#varint()
    if (type === 'text') return this.#text(this.#lengthEnd(end))
    const at = this.#advance(8, end)
    if (type === 'double') return this.#bytes.readDoubleLE(at)
    const high = type === 'fixed64' ? this.#bytes.readUInt32LE(at + 4) : this.#bytes.readInt32LE(at + 4)
    return high * 2 ** 32 + this.#bytes.readUInt32LE(at)
  }

  #text(end: number): string {
    const start = this.#at
    this.#at = end
    try {
      return utf8.decode(this.#bytes.subarray(start, end))
    } catch {
      throw new ProtobufError('a text is not UTF-8')
    }
  }

  #skip(wireType: number, end: number): void {
    if (wireType === varint) this.#varint()
    else if (wireType === eightBytes) this.#advance(8, end)
    else if (wireType === fourBytes) this.#advance(4, end)
    else if (wireType === lengthDelimited) this.#at = this.#lengthEnd(end)
    else throw new ProtobufError('unknown wire type')
  }

  #lengthEnd(end: number): number {
    const length = this.#count()
    if (length > end - this.#at) throw new ProtobufError('a field is longer than its message')
    return this.#at + length
  }

  /** Returns the offset before. */
  #advance(length: number, end: number): number {
    const start = this.#at
    if (length > end - start) throw new ProtobufError('a field is longer than its message')
    this.#at = start + length
    return start
  }

  /** A tag or a length. */
  #count(): number {
    const value = this.#varint()
    if (value < 0 || value >= 2 ** 31) throw new ProtobufError('a length or a tag is out of range')
    return value
  }

  /** A signed integer of 64 bits, at most ten bytes. */
  #varint(): number {
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new ProtobufError('the body ends within a number')
      const bits = byte & 0x7f
      if (shift < 32) low |= bits << shift
      if (shift === 28) high |= bits >>> 4
      else if (shift > 28) high |= bits << (shift - 32)
      if (byte < 0x80) return high * 2 ** 32 + (low >>> 0)
    }
    throw new ProtobufError('a number has more than ten bytes')
  }
}
