/**
 * Writes readings as a Parquet file. QuestDB's own Parquet has symbols in place of device names, and no statement may
 * contain the names. So each piece is written here as one or more row groups.
 */

import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync } from 'node:zlib'
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { ExportRows } from './export-queries.ts'
import type { ExportColumn } from './series-table.ts'

export const parquetMagic = Buffer.from('PAR1')

/** A group's columns are in memory once more while it is written. */
const groupRowsMax = 60_000

function schemaOf(columns: readonly ExportColumn[]): SchemaElement[] {
  return [
    { name: 'readings', num_children: 2 + columns.length },
    {
      name: 'timestamp',
      type: 'INT64',
      repetition_type: 'REQUIRED',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    {
      name: 'device',
      type: 'BYTE_ARRAY',
      repetition_type: 'REQUIRED',
      converted_type: 'UTF8',
      logical_type: { type: 'STRING' },
    },
    ...columns.map(({ name, isCount }): SchemaElement => {
      return { name, type: isCount ? 'INT64' : 'DOUBLE', repetition_type: 'OPTIONAL' }
    }),
  ]
}

/** Writes the rows of devices with a name, for a file that has `fileOffset` bytes so far. */
export async function writeRowGroups(
  columns: readonly ExportColumn[],
  rows: ExportRows,
  names: ReadonlyMap<number, string>,
  fileOffset: number,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; rowGroups: Uint8Array<ArrayBuffer> }> {
  const kept = rows.order.filter(row => names.has(rows.devices[row] as number))
  const { writer, written } = continueFile(columns, fileOffset)
  for (let start = 0; start < kept.length; start += groupRowsMax) {
    const columnData = sourcesOf(columns, rows, kept.subarray(start, start + groupRowsMax), names)
    await writer.write({ columnData, rowGroupSize: groupRowsMax })
  }
  return { bytes: written(), rowGroups: new Uint8Array(serialize(writer.row_groups)) }
}

/** The footer for the groups that `writeRowGroups` described. A file without it is unreadable. */
export async function parquetFooter(
  columns: readonly ExportColumn[],
  rowGroups: readonly Uint8Array[],
  fileOffset: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const { writer, written } = continueFile(columns, fileOffset)
  writer.row_groups = rowGroups.flatMap(described => deserialize(described) as ParquetWriter['row_groups'])
  writer.num_rows = writer.row_groups.reduce((sum, group) => sum + group.num_rows, 0n)
  await writer.finish()
  return written()
}

/** A writer begins each file with the magic, but this file has it already. */
function continueFile(
  columns: readonly ExportColumn[],
  fileOffset: number,
): { writer: ParquetWriter; written: () => Uint8Array<ArrayBuffer> } {
  const schema = schemaOf(columns)
  const bytes = new ByteWriter()
  bytes.offset = fileOffset - parquetMagic.length
  const compressors = { ZSTD: (page: Uint8Array) => zstdCompressSync(page) }
  const writer = new ParquetWriter({ writer: bytes, schema, codec: 'ZSTD', compressors, createdBy: 'Barograph' })
  return { writer, written: () => new Uint8Array(bytes.buffer.slice(parquetMagic.length, bytes.index)) }
}

function sourcesOf(
  columns: readonly ExportColumn[],
  { timesUs, devices, values }: ExportRows,
  kept: Uint32Array,
  names: ReadonlyMap<number, string>,
): ColumnSource[] {
  const times = BigInt64Array.from(kept, row => BigInt(timesUs[row] as number))
  return [
    { name: 'timestamp', data: times, encoding: 'DELTA_BINARY_PACKED' },
    { name: 'device', data: Array.from(kept, row => names.get(devices[row] as number)) },
    ...values.map((column, index): ColumnSource => {
      const { name, isCount } = columns[index] as ExportColumn
      const data = Array.from(kept, row => {
        const value = column[row] as number
        if (Number.isNaN(value)) return null
        return isCount ? BigInt(value) : value
      })
      // A dictionary would merge 0 and -0.
      return { name, data, encoding: 'PLAIN' }
    }),
  ]
}
