/**
 * Reads Parquet files of a day: computes their sums, copies them without some rows, and converts them to line protocol.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from 'hyparquet'
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { type ArchivedColumn, type ArchivedTable, dayUs, type Sums, summedBelow, sumScale } from './archived-tables.ts'

/** A value of a row: a time in microseconds, a text or a number. */
type Cell = bigint | string | number | null
type Group = Record<string, ArrayLike<Cell>>

export interface FileFacts {
  readonly sha256: string
  readonly bytes: number
  readonly sums: Sums
}

const compressors = { ZSTD: (page: Uint8Array) => zstdDecompressSync(page) }
/** Times stay bigints: a Date has no microseconds. */
const parsers = { timestampFromMicroseconds: (us: bigint) => us } as never

/** Groups of rows, one in memory at a time. Throws for an incomplete file. */
async function* readGroups(path: string, { columns }: ArchivedTable): AsyncGenerator<{ rows: number; group: Group }> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  let rowStart = 0
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows)
    const group: Record<string, Cell[]> = Object.fromEntries(columns.map(({ name }) => [name, []]))
    const onChunk = ({ columnName, columnData }: { columnName: string; columnData: ArrayLike<unknown> }) => {
      const cells = group[columnName] as Cell[]
      for (let row = 0; row < columnData.length; row++) cells.push(columnData[row] as Cell)
    }
    await parquetRead({ file, metadata, compressors, parsers, rowStart, rowEnd, onChunk })
    for (const { name } of columns) {
      if (group[name]?.length !== rowEnd - rowStart) throw new Error(`the column ${name} lacks rows`)
    }
    yield { rows: rowEnd - rowStart, group }
    rowStart = rowEnd
  }
}

export async function readFacts(path: string, table: ArchivedTable): Promise<FileFacts> {
  const sums = new FileSums(table)
  for await (const { rows, group } of readGroups(path, table)) sums.add(rows, group)
  return { ...(await digestOf(path)), sums: sums.texts() }
}

async function digestOf(path: string): Promise<Pick<FileFacts, 'sha256' | 'bytes'>> {
  const hash = createHash('sha256')
  let bytes = 0
  await pipeline(createReadStream(path), async chunks => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      hash.update(chunk)
      bytes += chunk.length
    }
  })
  return { sha256: hash.digest('hex'), bytes }
}

/** Computes the sums of `sumsSql`. */
class FileSums {
  readonly #columns: readonly ArchivedColumn[]
  readonly #counts: number[]
  readonly #sums: ExactSum[]
  #rows = 0

  constructor({ columns }: ArchivedTable) {
    this.#columns = columns.filter(({ isJoined }) => isJoined !== true)
    this.#counts = this.#columns.map(() => 0)
    this.#sums = this.#columns.map(() => new ExactSum())
  }

  add(rows: number, group: Group): void {
    this.#rows += rows
    for (const [at, column] of this.#columns.entries()) this.#addColumn(at, column, group[column.name] ?? [])
  }

  #addColumn(at: number, { type }: ArchivedColumn, cells: ArrayLike<Cell>): void {
    const sum = this.#sums[at] as ExactSum
    for (let row = 0; row < cells.length; row++) {
      const cell = cells[row] ?? null
      if (cell === null) continue
      this.#counts[at] = (this.#counts[at] as number) + 1
      if (type === 'TIMESTAMP') sum.add(Number(cell) % dayUs)
      else if (type === 'SYMBOL') sum.add(String(cell).length)
      else if (type === 'INT') sum.add(Number(cell))
      else if (Math.abs(Number(cell)) < summedBelow) sum.add(Math.trunc(Number(cell) * sumScale))
    }
  }

  texts(): Sums {
    const ofColumns = this.#columns.flatMap(({ type }, at) => {
      const sum = (this.#sums[at] as ExactSum).text()
      return type === 'DOUBLE' ? [String(this.#counts[at]), sum] : [sum]
    })
    return [String(this.#rows), ...ofColumns]
  }
}

/** Adds integers below 2^52 as doubles while that is exact, then as BigInt. */
class ExactSum {
  #part = 0
  #whole = 0n
  #isEmpty = true

  add(value: number): void {
    this.#isEmpty = false
    this.#part += value
    if (Math.abs(this.#part) < 2 ** 52) return
    this.#whole += BigInt(this.#part)
    this.#part = 0
  }

  /** Wraps like a LONG of QuestDB. */
  text(): string {
    return this.#isEmpty ? '' : String(BigInt.asIntN(64, this.#whole + BigInt(this.#part)))
  }
}

/** Times of rows by key, in the order of the file. */
export type RowKeys = ReadonlyMap<string | number, Float64Array | number[]>

/** Rows to leave out of a file: all rows of these keys, or these rows. */
export interface LeftOut {
  readonly keys?: readonly (string | number)[]
  readonly rows?: RowKeys
}

/** Writes a file with the other rows; returns its sums and the number of rows left out. */
export async function writeWithout(
  path: string,
  to: string,
  table: ArchivedTable,
  leftOut: LeftOut,
): Promise<FileFacts & { dropped: number }> {
  const { columns, keyColumn } = table
  const isLeftOut = leftOutTest(leftOut)
  const writer = new ParquetWriter({
    writer: fileWriter(to),
    schema: schemaOf(table),
    codec: 'ZSTD',
    compressors: { ZSTD: (page: Uint8Array) => zstdCompressSync(page) },
    createdBy: 'Barograph',
  })
  const sums = new FileSums(table)
  let dropped = 0
  for await (const { rows, group } of readGroups(path, table)) {
    const kept: number[] = []
    for (let row = 0; row < rows; row++) {
      const key = group[keyColumn]?.[row] as string | number
      if (!isLeftOut(key, Number(group['ts']?.[row]))) kept.push(row)
    }
    dropped += rows - kept.length
    if (kept.length === 0) continue
    const others = Object.fromEntries(columns.map(({ name }) => [name, kept.map(row => group[name]?.[row] ?? null)]))
    sums.add(kept.length, others)
    // A dictionary encoding would merge 0 and -0.
    const columnData = columns.map(({ name }) => ({ name, data: others[name] ?? [], encoding: 'PLAIN' as const }))
    await writer.write({ columnData, rowGroupSize: kept.length })
  }
  await writer.finish()
  return { ...(await digestOf(to)), sums: sums.texts(), dropped }
}

function leftOutTest({ keys = [], rows = new Map() }: LeftOut): (key: string | number, us: number) => boolean {
  const ofKeys = new Set(keys)
  return (key, us) => ofKeys.has(key) || isIn(rows.get(key), us)
}

/** Binary search: the times of a key ascend. */
function isIn(times: ArrayLike<number> | undefined, us: number): boolean {
  if (times === undefined) return false
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] as number) < us) low = middle + 1
    else high = middle
  }
  return times[low] === us
}

export async function readRowKeys(paths: readonly string[], table: ArchivedTable): Promise<RowKeys> {
  const found = new Map<string | number, number[]>()
  for (const path of paths) {
    for await (const { rows, group } of readGroups(path, table)) {
      for (let row = 0; row < rows; row++) {
        const key = group[table.keyColumn]?.[row] as string | number
        const times = found.get(key) ?? []
        if (times.length === 0) found.set(key, times)
        times.push(Number(group['ts']?.[row]))
      }
    }
  }
  return found
}

/** Same schema as QuestDB's export. */
function schemaOf({ columns, name }: ArchivedTable): SchemaElement[] {
  return [{ name, num_children: columns.length }, ...columns.map(elementOf)]
}

function elementOf({ name, type }: ArchivedColumn): SchemaElement {
  if (type === 'INT') return { name, type: 'INT32', repetition_type: 'OPTIONAL' }
  if (type === 'DOUBLE') return { name, type: 'DOUBLE', repetition_type: 'OPTIONAL' }
  if (type === 'SYMBOL') {
    const text = { converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const
    return { name, type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL', ...text }
  }
  const time = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } as const
  const converted = { converted_type: 'TIMESTAMP_MICROS', logical_type: time } as const
  return { name, type: 'INT64', repetition_type: 'REQUIRED', ...converted }
}

/** Chunks of line protocol with times in microseconds, for the table of restored rows. */
export async function* linesOf(path: string, table: ArchivedTable): AsyncGenerator<string> {
  for await (const { rows, group } of readGroups(path, table)) {
    for (let start = 0; start < rows; start += linesPerPiece) {
      const count = Math.min(linesPerPiece, rows - start)
      yield Array.from({ length: count }, (_, at) => lineOf(table, group, start + at)).join('')
    }
  }
}

const linesPerPiece = 10_000

function lineOf({ restoredTable, keyColumn, columns }: ArchivedTable, group: Group, row: number): string {
  const key = group[keyColumn]?.[row]
  const values = columns.flatMap(({ name, type }) => {
    const value = type === 'DOUBLE' ? group[name]?.[row] : undefined
    return value === undefined || value === null ? [] : [`${name}=${value}`]
  })
  const head = keyColumn === 'device' ? `${restoredTable},device=${key} ` : `${restoredTable} series=${key}i,`
  return `${head}${values.join(',')} ${group['ts']?.[row]}\n`
}
