/** Where bulk bodies are read: a thread beside the main one, started by the first import and gone when none is left. */

import { Piscina } from 'piscina'
import { threadLimits } from '../../store/thread-limits.ts'
import type { ChunkResult } from '../formats/chunk.ts'
import type { CsvLayout } from '../formats/csv.ts'
import type { EncodedRows } from '../formats/encode.ts'
import type { Chunk } from '../formats/lines.ts'
import type { Reject } from '../formats/reject.ts'
import { buffersOf } from '../formats/rows.ts'
import type { Ranges } from '../reading.ts'
import type { DeviceRef } from '../readings-table.ts'
import type { EncodeTask, ReadTask } from './import-worker.ts'

export interface ImportPoolOptions {
  now: () => number
  ranges: Ranges
  aheadMsMax: number
  lineBytesMax: number
  queueMax: number
}

interface ChunkSource {
  chunk: Chunk
  layout: CsvLayout | undefined
  firstLine: number
  rejectsMax: number
  find: (deviceName: string) => DeviceRef | undefined
}

/** Records for the journal, and the rejects of the chunk. */
export interface ReadyChunk {
  lines: number
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

export function createImportPool(options: ImportPoolOptions): ImportPool {
  const { now, queueMax, ...readOptions } = options
  const pool = new Piscina({
    filename: new URL('./import-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMsMax,
    maxQueue: queueMax,
    resourceLimits: threadLimits.readingsImport,
  })

  async function read(task: ReadTask): Promise<ChunkResult> {
    return await pool.run(task, { name: 'read', transferList: [task.chunk.buffer] })
  }

  async function encode(task: EncodeTask): Promise<EncodedRows> {
    return await pool.run(task, { name: 'encode', transferList: buffersOf(task.rows) })
  }

  /** Two calls to the thread, because only main knows which devices there are. */
  async function prepare({ chunk, layout, firstLine, rejectsMax, find }: ChunkSource): Promise<ReadyChunk> {
    const nowMs = now()
    const result = await read({ ...readOptions, chunk, layout, firstLine, rejectsMax, nowMs })
    const { lines, rows, names } = result
    const devices = names.map(name => deviceRef(find(name)))
    const encoded = await encode({ rows, names, devices, rejectsMax })
    return {
      lines,
      records: encoded.records,
      count: encoded.count,
      rejects: [...result.rejects, ...encoded.rejects].sort((a, b) => a.line - b.line),
      rejected: result.rejected + encoded.rejected,
    }
  }

  return { prepare, close: () => pool.destroy() }
}

/** A device of the registry carries more than the thread needs, and perhaps more than can be sent there. */
function deviceRef(device: DeviceRef | undefined): DeviceRef | undefined {
  return device === undefined ? undefined : { number: device.number, symbol: device.symbol }
}
