/** Where bulk bodies are read: a thread beside the main one, started by the first import and gone when none is left. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { Piscina } from 'piscina'
import { threadLimits } from '../../store/thread-limits.ts'
import type { CsvLayout } from '../formats/csv.ts'
import type { EncodedRows, Unresolved } from '../formats/encode.ts'
import type { Chunk } from '../formats/lines.ts'
import type { Reject } from '../formats/reject.ts'
import type { RowCheckOptions, Series } from '../formats/row-kind.ts'
import type { RowKindName } from '../formats/row-kinds.ts'
import { buffersOf } from '../formats/rows.ts'
import type { TimeLimits } from '../reading.ts'
import type { EncodeTask, ReadRows, ReadTask } from './import-worker.ts'
import { unpackNames } from './packed-names.ts'
import { type PackedSeries, SeriesPacker } from './packed-series.ts'

export interface ImportPoolOptions extends Omit<RowCheckOptions, 'defaultDevice' | 'earliestMs'> {
  kind: RowKindName
  now: () => number
  /** Asked for each chunk, as the clock is. */
  earliestMs?: TimeLimits['earliestMs']
  lineBytesMax: number
  queueMax: number
}

/** The series of each name, or why there is none. Rejects when that cannot be told at present. */
export type ResolveNames = (names: readonly (readonly string[])[]) => Promise<(Series | Unresolved)[]>

interface ChunkSource {
  chunk: Chunk
  layout: CsvLayout | undefined
  firstLine: number
  rejectsMax: number
  resolve: ResolveNames
  defaultDevice: string | undefined
}

/** Records for the journal, and the rejects of the chunk. */
export interface ReadyChunk {
  lines: number
  /** Of the records, as they were resolved. */
  series: readonly Series[]
  records: Uint8Array
  count: number
  rejects: Reject[]
  rejected: number
}

export interface ImportPool {
  prepare(source: ChunkSource): Promise<ReadyChunk>
  close(): Promise<void>
}

/** One thread reads about a million lines of CSV a second, which is more than the journal's disk and QuestDB take. */
const threadsMax = 1
const idleMsMax = 10_000
const namesPerTurn = 2000

export function createImportPool(options: ImportPoolOptions): ImportPool {
  const { now, earliestMs, queueMax, ...readOptions } = options
  const { kind } = options
  const pool = new Piscina({
    filename: new URL('./import-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMsMax,
    maxQueue: queueMax,
    resourceLimits: threadLimits.readingsImport,
  })

  async function read(task: ReadTask): Promise<ReadRows> {
    return await pool.run(task, { name: 'read', transferList: [task.chunk.buffer] })
  }

  async function encode(task: EncodeTask): Promise<EncodedRows> {
    return await pool.run(task, { name: 'encode', transferList: buffersOf(task.rows) })
  }

  /** Two calls to the thread, because only main knows which devices and stations there are. */
  async function prepare({
    chunk,
    layout,
    firstLine,
    rejectsMax,
    resolve,
    defaultDevice,
  }: ChunkSource): Promise<ReadyChunk> {
    const nowMs = now()
    const times = { nowMs, earliestMs: earliestMs?.() }
    const result = await read({ ...readOptions, ...times, chunk, layout, firstLine, rejectsMax, defaultDevice })
    const { lines, rows, names } = result
    const { known, series } = await resolveAll(names, resolve)
    const encoded = await encode({ kind, rows, names, series, nowMs, rejectsMax })
    return {
      lines,
      series: known,
      records: encoded.records,
      count: encoded.count,
      rejects: [...result.rejects, ...encoded.rejects].sort((a, b) => a.line - b.line),
      rejected: result.rejected + encoded.rejected,
    }
  }

  return { prepare, close: () => pool.destroy() }
}

/** In slices, between which main has its turn for others. */
async function resolveAll(
  names: ReadRows['names'],
  resolve: ResolveNames,
): Promise<{ known: Series[]; series: PackedSeries }> {
  const known: Series[] = []
  const packer = new SeriesPacker()
  for (let from = 0; from < names.count; from += namesPerTurn) {
    if (from > 0) await nextTurn()
    const resolved = await resolve(unpackNames(names, from, from + namesPerTurn))
    packer.add(resolved)
    for (const each of resolved) if ('number' in each) known.push(each)
  }
  return { known, series: packer.pack() }
}
