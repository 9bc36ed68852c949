/** Files of readings, read by another Parquet reader that shares no code with QuestDB's. */

import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import t, { type Test } from 'tap'
import type { ExportRows } from '../../query/export/export-queries.ts'
import { parquetFooter, parquetMagic, writeRowGroups } from '../../query/export/parquet-file.ts'
import { columnsOf } from '../../query/export/series-table.ts'
import { metrics } from '../../store/tables.ts'
import { runs } from '../support/runs.ts'

const columns = columnsOf(undefined)
const names = new Map([
  [1, 'porch'],
  [2, 'Küche "1", 💧'],
])

async function fileOf(pieces: readonly ExportRows[]): Promise<ArrayBuffer> {
  const parts: Uint8Array[] = [parquetMagic]
  const rowGroups: Uint8Array[] = []
  let offset = parquetMagic.length
  for (const piece of pieces) {
    const written = await writeRowGroups(columns, piece, names, offset)
    parts.push(written.bytes)
    rowGroups.push(written.rowGroups)
    offset += written.bytes.length
  }
  parts.push(await parquetFooter(columns, rowGroups, offset))
  return new Uint8Array(Buffer.concat(parts)).buffer
}

async function readFile(file: ArrayBuffer): Promise<unknown[][]> {
  const compressors = { ZSTD: (page: Uint8Array) => new Uint8Array(zstdDecompressSync(page)) }
  // Times as Date objects would end at the millisecond.
  const parsers = { timestampFromMicroseconds: (microseconds: bigint) => microseconds }
  const rows = await parquetReadObjects({ file, compressors, parsers: parsers as never })
  return rows.map(row => [row['timestamp'], row['device'], ...metrics.map(metric => row[metric])])
}

function piece(rows: readonly { timeUs: number; device: number; values: readonly number[] }[]): ExportRows {
  return {
    timesUs: Float64Array.from(rows, ({ timeUs }) => timeUs),
    devices: Float64Array.from(rows, ({ device }) => device),
    values: metrics.map((_, index) => Float64Array.from(rows, ({ values }) => values[index] as number)),
    order: Uint32Array.from(rows, (_, row) => rows.length - 1 - row),
  }
}

function rowsIn({ timesUs, devices, values, order }: ExportRows): unknown[][] {
  return [...order]
    .filter(row => names.has(devices[row] as number))
    .map(row => {
      const cells = values.map(column => (Number.isNaN(column[row]) ? null : column[row]))
      return [BigInt(timesUs[row] as number), names.get(devices[row] as number), ...cells]
    })
}

async function reads(t: Test, pieces: readonly ExportRows[]): Promise<void> {
  const read = await readFile(await fileOf(pieces))
  const wanted = pieces.flatMap(rowsIn)
  // Texts distinguish -0 from 0.
  const text = (rows: unknown[][]) =>
    rows.map(row => row.map(cell => (Object.is(cell, -0) ? '-0' : String(cell))).join())
  t.strictSame(text(read), text(wanted))
}

const value = fc.oneof(fc.constant(Number.NaN), fc.constantFrom(0, -0, 21.5), fc.double({ noNaN: true }))
const row = fc.record({
  timeUs: fc.integer({ min: -62_135_596_800_000_000, max: Number.MAX_SAFE_INTEGER }),
  device: fc.constantFrom(1, 2, 3),
  values: fc.array(value, { minLength: metrics.length, maxLength: metrics.length }),
})

t.test('every reading of a device with a name is read as it was, in any number of pieces', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(row, { maxLength: 30 }).map(piece), { maxLength: 4 }), async pieces => {
      await reads(t, pieces)
    }),
    runs(50, 200),
  )
})

t.test('a large piece is written in several groups', async t => {
  const large = piece(
    Array.from({ length: 60_001 }, (_, index) => ({
      timeUs: index * 1_000_001,
      device: 1 + (index % 3),
      values: metrics.map((_, metric) => (index % (metric + 2) === 0 ? Number.NaN : index / 7)),
    })),
  )
  await reads(t, [large])
  t.equal(parquetMetadata(await fileOf([large])).row_groups.length, 1)
  const named = { ...large, devices: large.devices.fill(2) }
  const groups = parquetMetadata(await fileOf([named])).row_groups
  t.equal(groups.map(group => group.num_rows).join(), '60000,1')
  await reads(t, [named])
})

t.test('a reader finds the groups of a time by their statistics', async t => {
  const at = (timeUs: number) => ({ timeUs, device: 1, values: metrics.map(() => 1) })
  const { row_groups } = parquetMetadata(await fileOf([piece([at(5000), at(9000)]), piece([at(10_000)])]))
  const bounds = row_groups.map(({ columns }) => {
    const { min_value, max_value } = columns[0]?.meta_data?.statistics ?? {}
    return [min_value, max_value].map(Number)
  })
  t.strictSame(bounds.flat(), [5, 9, 10, 10])
})
