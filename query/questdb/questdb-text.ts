/**
 * Rows of QuestDB as the CSV text of `/exp`. For a few thousand rows that are sent as text again it is quicker than Parquet, which
 * QuestDB writes in a thread of its own: 20,000 readings come in 10 ms, where their first byte takes 16 to 26.
 */

import type { IncomingMessage } from 'node:http'
import { detachBuffers } from '../../limits/detach-buffers.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import type { WorkerSettings } from '../task.ts'

interface TextRequest {
  /** Of our own making: `/exp` has no binds. */
  readonly sql: string
  /** A longer text is an error. */
  readonly bytesMax: number
}

export interface QuestdbText {
  /** A header and the rows. Undefined when it cannot be had in this way. Rejects with a QuestdbError. */
  read(asked: TextRequest, signal: AbortSignal): Promise<Buffer | undefined>
  close(): void
}

type Settings = Pick<WorkerSettings, 'questdb' | 'connectTimeoutMs' | 'statementTimeoutMs'>

export function createQuestdbText({ questdb, connectTimeoutMs, statementTimeoutMs }: Settings): QuestdbText {
  const client = createQuestdbClient(questdb.http, 1)
  const headers = { 'statement-timeout': String(statementTimeoutMs) }

  async function read({ sql, bytesMax }: TextRequest, signal: AbortSignal): Promise<Buffer | undefined> {
    const startedMs = performance.now()
    let text: Buffer | undefined
    try {
      const path = `/exp?query=${encodeURIComponent(sql)}`
      text = await textIn(await client.get(path, { signal, headers, connectTimeoutMs }), bytesMax)
    } catch {
      if (signal.aborted) throw new QuestdbError('CANCELLED', 'while it was read')
    }
    const isLate = performance.now() - startedMs >= statementTimeoutMs
    if (isLate && text === undefined) throw new QuestdbError('TIMED_OUT', 'while it was read')
    return text
  }

  return { read, close: client.close }
}

/** Rejects when it breaks off, or is too long. */
async function textIn(response: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bytesMax) throw new Error(`it sends more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  const text = response.statusCode === 200 ? Buffer.concat(chunks, length) : undefined
  // Left to V8, a few pieces of them start a collection of the whole heap of the thread.
  detachBuffers(chunks)
  return text
}
