/**
 * Columns of numbers from QuestDB's `/exp`, which sends Parquet: 43,200 readings in 17 ms (75 over the PostgreSQL
 * protocol), 525,600 in 0.2 s (0.9). It depends on the server, so it may be unavailable.
 */

import type { IncomingMessage } from 'node:http'
import { bug } from '../../store/limits/bug.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import type { QuestdbSettings } from '../task.ts'
import { ParquetUnreadable, parquetMagic, readDoubleColumns } from './parquet.ts'
import { ReadingsColumns } from './readings-columns.ts'

export interface ColumnsRequest {
  /** SQL without a caller's text, because `/exp` has no binds. Each column is a double. */
  readonly sql: string
  readonly columnCount: number
  /** More rows are an error. */
  readonly rowsMax: number
}

export interface QuestdbExport {
  /** Undefined when Parquet is unavailable: on that server, or at the moment. */
  read(asked: ColumnsRequest, signal: AbortSignal): Promise<Float64Array[] | undefined>
  close(): void
}

interface Answer {
  readonly status: number
  /** Undefined when the response is not such a file. */
  readonly columns: Float64Array[] | undefined
}

/** A file's frame, and the header of each page of some 100,000 rows. */
const frameBytesMax = 64 * 1024
const pageShareMax = 1.05

export function createQuestdbExport({ questdb, connectTimeoutMs, statementTimeoutMs }: QuestdbSettings): QuestdbExport {
  const client = createQuestdbClient(questdb.http, 1)
  const headers = { 'statement-timeout': String(statementTimeoutMs) }

  /** Rejects unless the response is complete. */
  async function get(asked: ColumnsRequest, signal: AbortSignal): Promise<Answer> {
    const path = `/exp?fmt=parquet&compression_codec=uncompressed&query=${encodeURIComponent(asked.sql)}`
    return await answerIn(await client.get(path, { signal, headers, connectTimeoutMs }), asked)
  }

  async function read(asked: ColumnsRequest, signal: AbortSignal): Promise<Float64Array[] | undefined> {
    const startedMs = performance.now()
    let answer: Answer | undefined
    try {
      answer = await get(asked, signal)
    } catch {
      if (signal.aborted) throw new QuestdbError('CANCELLED', 'while reading the response')
    }
    const isLate = performance.now() - startedMs >= statementTimeoutMs
    if (isLate && answer?.status !== 200) throw new QuestdbError('TIMED_OUT', 'while reading the response')
    return answer?.columns
  }

  return { read, close: client.close }
}

/** Resolves as soon as its file is complete; rejects when it breaks off. */
function answerIn(response: IncomingMessage, asked: ColumnsRequest): Promise<Answer> {
  const bytesMax = frameBytesMax + asked.rowsMax * asked.columnCount * Float64Array.BYTES_PER_ELEMENT * pageShareMax
  const status = response.statusCode ?? 0
  let chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const take = (isEnd: boolean) => {
      try {
        const columns = status === 200 ? columnsIn(Buffer.concat(chunks, length), asked) : undefined
        if (columns === undefined && !isEnd) return
        chunks = []
        length = 0
        resolve({ status, columns })
      } catch (error) {
        reject(error)
      }
    }
    response.on('data', (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (length > bytesMax) response.destroy(new Error(`response exceeds ${bytesMax} bytes`))
      // When the file is sent, QuestDB logs that in its own table and ends the response some 4 ms later.
      else if (seemsWhole(chunk)) take(false)
    })
    response.on('error', reject)
    response.on('end', () => take(true))
  })
}

/** A file ends with its first bytes; parsing the columns verifies that it is complete. */
function seemsWhole(lastChunk: Buffer): boolean {
  return lastChunk.toString('latin1', lastChunk.length - parquetMagic.length) === parquetMagic
}

/** Another version of QuestDB may write its files differently, or not support Parquet here. */
function columnsIn(file: Buffer, { columnCount, rowsMax }: ColumnsRequest): Float64Array[] | undefined {
  try {
    return readDoubleColumns(file, columnCount, rowsMax)
  } catch (error) {
    if (error instanceof ParquetUnreadable) return undefined
    throw error
  } finally {
    detachBuffers([file])
  }
}

type Columns = [Float64Array, ...Float64Array[]]

export interface ColumnsReader {
  /** The first column is a time in microseconds, ascending. Rejects with a QuestdbError. */
  read(asked: ColumnsRequest, signal: AbortSignal): Promise<Columns>
  close(): void
}

/** Columns of numbers from QuestDB, as Parquet where available, otherwise over the PostgreSQL protocol. */
export function createColumnsReader(settings: QuestdbSettings, connection: Pick<PgConnection, 'read'>): ColumnsReader {
  const questdbExport = createQuestdbExport(settings)
  return {
    async read(asked, signal) {
      const columns = (await questdbExport.read(asked, signal)) ?? (await readOverPg(connection, asked, signal))
      return columns as Columns
    },
    close: questdbExport.close,
  }
}

const rowsGuess = 1500

/** The same rows as text, four times as slow. Its error is the caller's. */
async function readOverPg(
  connection: Pick<PgConnection, 'read'>,
  { sql, columnCount, rowsMax }: ColumnsRequest,
  signal: AbortSignal,
): Promise<Float64Array[]> {
  const columns = new ReadingsColumns(columnCount - 1, rowsGuess)
  await connection.read({ text: sql, values: [] }, signal, row => columns.add(0, Number(row[0]), row, 1))
  if (columns.length > rowsMax) throw bug(`statement limited to ${rowsMax} rows returned ${columns.length}`)
  return [columns.timesUs, ...Array.from({ length: columnCount - 1 }, (_, index) => columns.values(index))]
}
