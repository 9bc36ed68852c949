/**
 * Readings as a Parquet file. QuestDB's own Parquet is what they are read as, but it has symbols where a file needs the
 * names of devices, which no statement may hold; so the file is written here, one group of rows for each piece.
 */

import { zstdCompressSync } from 'node:zlib'
import { metrics } from '../../store/tables.ts'
import type { RowGroup } from './export-queries.ts'
import type { ExportRows } from './export-rows.ts'
import { type ThriftField, thriftStruct, writeUnsigned } from './thrift-writer.ts'

export const parquetMagic = Buffer.from('PAR1')

/** As parquet.thrift numbers them. */
const typeOf = { int64: 2, double: 5, byteArray: 6 }
const required = 0
const optional = 1
const encodingPlain = 0
const encodingRle = 3
const codecZstd = 6
const pageOfData = 0
const convertedUtf8 = 0
const convertedTimestampMicros = 10
const logicalString: ThriftField = { struct: [[1, { struct: [] }]] }
/** In UTC. */
const logicalMicroseconds: ThriftField = {
  struct: [
    [
      8,
      {
        struct: [
          [1, { yes: true }],
          [2, { struct: [[2, { struct: [] }]] }],
        ],
      },
    ],
  ],
}

const columns: { name: string; type: number; repetition: number; more: [number, ThriftField][] }[] = [
  {
    ...{ name: 'timestamp', type: typeOf.int64, repetition: required },
    more: [
      [6, { i32: convertedTimestampMicros }],
      [10, logicalMicroseconds],
    ],
  },
  {
    ...{ name: 'device', type: typeOf.byteArray, repetition: required },
    more: [
      [6, { i32: convertedUtf8 }],
      [10, logicalString],
    ],
  },
  ...metrics.map(name => ({ name, type: typeOf.double, repetition: optional, more: [] })),
]

/** Those rows whose device has a name. */
export function writeRowGroup(
  { timesUs, devices, values, order }: ExportRows,
  names: ReadonlyMap<number, string>,
): { bytes: Uint8Array<ArrayBuffer>; rowGroup: RowGroup } {
  const kept = order.filter(row => names.has(devices[row] as number))
  const pages = [
    timePage(timesUs, kept),
    namePage(kept, row => names.get(devices[row] as number) ?? ''),
    ...values.map(column => doublePage(column, kept)),
  ].map(page => withHead(page, kept.length))
  let offset = 0
  const places = pages.map(({ bytes, bytesPlain }) => {
    const place = { offset, bytes: bytes.length, bytesPlain }
    offset += bytes.length
    return place
  })
  const bytes = kept.length === 0 ? new Uint8Array() : new Uint8Array(Buffer.concat(pages.map(page => page.bytes)))
  return { bytes, rowGroup: { rows: kept.length, columns: places } }
}

function withHead(page: Buffer, valueCount: number): { bytes: Buffer; bytesPlain: number } {
  const compressed = zstdCompressSync(page)
  const head = thriftStruct([
    [1, { i32: pageOfData }],
    [2, { i32: page.length }],
    [3, { i32: compressed.length }],
    [
      5,
      {
        struct: [
          [1, { i32: valueCount }],
          [2, { i32: encodingPlain }],
          [3, { i32: encodingRle }],
          [4, { i32: encodingRle }],
        ],
      },
    ],
  ])
  return { bytes: Buffer.concat([head, compressed]), bytesPlain: head.length + page.length }
}

function timePage(timesUs: Float64Array, kept: Uint32Array): Buffer {
  const page = Buffer.allocUnsafe(kept.length * 8)
  let at = 0
  for (const row of kept) at = page.writeBigInt64LE(BigInt(timesUs[row] as number), at)
  return page
}

function namePage(kept: Uint32Array, nameOf: (row: number) => string): Buffer {
  const encoded = new Map<string, Buffer>()
  const parts: Buffer[] = []
  for (const row of kept) {
    const name = nameOf(row)
    let bytes = encoded.get(name)
    if (bytes === undefined) {
      const text = Buffer.from(name)
      bytes = Buffer.alloc(4 + text.length)
      bytes.writeUInt32LE(text.length)
      text.copy(bytes, 4)
      encoded.set(name, bytes)
    }
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}

/** Before the values that are there, which of them are: in runs of one kind. */
function doublePage(column: Float64Array, kept: Uint32Array): Buffer {
  const levels: number[] = []
  const page = Buffer.allocUnsafe(kept.length * 8)
  let at = 0
  let runLength = 0
  let isRunPresent = false
  const endRun = () => {
    if (runLength === 0) return
    writeUnsigned(levels, runLength * 2)
    levels.push(isRunPresent ? 1 : 0)
  }
  for (const row of kept) {
    const value = column[row] as number
    const isPresent = !Number.isNaN(value)
    if (isPresent !== isRunPresent) {
      endRun()
      runLength = 0
      isRunPresent = isPresent
    }
    runLength++
    if (isPresent) at = page.writeDoubleLE(value, at)
  }
  endRun()
  const length = Buffer.alloc(4)
  length.writeUInt32LE(levels.length)
  return Buffer.concat([length, Buffer.from(levels), page.subarray(0, at)])
}

/** The end of a file that begins with its magic and has these groups behind it. A file without it is unreadable. */
export function parquetFooter(groups: readonly RowGroup[]): Buffer {
  let start = parquetMagic.length
  const rowGroups = groups.map(group => {
    const fields = groupFields(group, start)
    start += group.columns.reduce((sum, { bytes }) => sum + bytes, 0)
    return fields
  })
  const footer = thriftStruct([
    [1, { i32: 2 }],
    [2, { structs: [rootSchema, ...columns.map(schemaOf)] }],
    [3, { i64: groups.reduce((sum, { rows }) => sum + rows, 0) }],
    [4, { structs: rowGroups }],
    [6, { text: 'Barograph' }],
  ])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([footer, length, parquetMagic])
}

type Fields = readonly (readonly [number, ThriftField])[]

const rootSchema: Fields = [
  [4, { text: 'readings' }],
  [5, { i32: columns.length }],
]

function schemaOf({ name, type, repetition, more }: (typeof columns)[number]): Fields {
  return [[1, { i32: type }], [3, { i32: repetition }], [4, { text: name }], ...more]
}

function groupFields({ rows, columns: places }: RowGroup, start: number): Fields {
  const chunks = places.map(({ offset, bytes, bytesPlain }, index): Fields => {
    const { type = 0, name = '' } = columns[index] ?? {}
    const meta: Fields = [
      [1, { i32: type }],
      [2, { i32s: [encodingPlain, encodingRle] }],
      [3, { texts: [name] }],
      [4, { i32: codecZstd }],
      [5, { i64: rows }],
      [6, { i64: bytesPlain }],
      [7, { i64: bytes }],
      [9, { i64: start + offset }],
    ]
    return [
      [2, { i64: start + offset }],
      [3, { struct: meta }],
    ]
  })
  const bytesPlain = places.reduce((sum, place) => sum + place.bytesPlain, 0)
  return [
    [1, { structs: chunks }],
    [2, { i64: bytesPlain }],
    [3, { i64: rows }],
  ]
}
