/** Writes Thrift's compact protocol, in which a Parquet file describes itself. Fields are given in the order of their numbers. */

type Field = readonly [number: number, value: ThriftField]

export type ThriftField =
  | { readonly i32: number }
  | { readonly i64: number }
  | { readonly text: string }
  | { readonly yes: boolean }
  | { readonly struct: readonly Field[] }
  | { readonly structs: readonly (readonly Field[])[] }
  | { readonly i32s: readonly number[] }
  | { readonly texts: readonly string[] }

const typeOf = { yes: 1, no: 2, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 }

export function thriftStruct(fields: readonly Field[]): Buffer {
  const bytes: number[] = []
  writeStruct(bytes, fields)
  return Buffer.from(bytes)
}

function writeStruct(bytes: number[], fields: readonly Field[]): void {
  let last = 0
  for (const [number, value] of fields) {
    bytes.push(((number - last) << 4) | typeIn(value))
    writeValue(bytes, value)
    last = number
  }
  bytes.push(0)
}

function typeIn(value: ThriftField): number {
  if ('i32' in value) return typeOf.i32
  if ('i64' in value) return typeOf.i64
  if ('text' in value) return typeOf.binary
  if ('yes' in value) return value.yes ? typeOf.yes : typeOf.no
  return 'struct' in value ? typeOf.struct : typeOf.list
}

function writeValue(bytes: number[], value: ThriftField): void {
  if ('i32' in value) writeUnsigned(bytes, value.i32 * 2)
  else if ('i64' in value) writeUnsigned(bytes, value.i64 * 2)
  else if ('text' in value) writeText(bytes, value.text)
  else if ('struct' in value) writeStruct(bytes, value.struct)
  else if ('structs' in value) {
    writeListHead(bytes, value.structs.length, typeOf.struct)
    for (const fields of value.structs) writeStruct(bytes, fields)
  } else if ('i32s' in value) {
    writeListHead(bytes, value.i32s.length, typeOf.i32)
    for (const number of value.i32s) writeUnsigned(bytes, number * 2)
  } else if ('texts' in value) {
    writeListHead(bytes, value.texts.length, typeOf.binary)
    for (const text of value.texts) writeText(bytes, text)
  }
}

function writeListHead(bytes: number[], length: number, type: number): void {
  if (length < 15) bytes.push((length << 4) | type)
  else {
    bytes.push(0xf0 | type)
    writeUnsigned(bytes, length)
  }
}

function writeText(bytes: number[], text: string): void {
  const encoded = Buffer.from(text)
  writeUnsigned(bytes, encoded.length)
  for (const byte of encoded) bytes.push(byte)
}

/** Exact below 2^53. Numbers that are not negative, doubled, are their own zigzag. */
export function writeUnsigned(bytes: number[], number: number): void {
  let rest = number
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
}
