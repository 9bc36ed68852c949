/**
 * The main thread's interface to the thread that reads bodies of line protocol. The first body starts it, and it ends some
 * minutes after the last.
 */

import { Piscina } from 'piscina'
import { bug } from '../../store/limits/bug.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import { buffersOf } from '../formats/rows.ts'
import { idleMsMax } from './import-pool.ts'
import type { EncodedLines, EncodeLinesTask, ForgottenNames, ReadLines, ReadLinesTask } from './line-protocol-worker.ts'
import { textIndexes } from './packed-names.ts'
import { arraysOfSeries, packSeries } from './packed-series.ts'
import { packTexts } from './packed-texts.ts'
import { createNameOf, type ResolvedNames } from './resolve-lines.ts'

export interface LineThread {
  /** Transfers the bytes of the body. */
  read(task: ReadLinesTask): Promise<ReadLines>
  /** Transfers the rows. */
  encode(resolved: ResolvedNames, task: Omit<EncodeLinesTask, 'series'>): Promise<EncodedLines>
  close(): Promise<void>
}

/** One thread reads more than a million lines a second. */
const threadsMax = 1

export function createLineThread(): LineThread {
  const pool = new Piscina({
    filename: new URL('./line-protocol-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMsMax,
    // The callers limit the bytes of waiting bodies.
    maxQueue: Number.POSITIVE_INFINITY,
    resourceLimits: threadLimits.readingsImport,
  })

  async function encodeRows(task: EncodeLinesTask): Promise<EncodedLines | ForgottenNames> {
    const encoded = await pool.run(task, { name: 'encode', transferList: buffersOf(task.rows) })
    detachBuffers(arraysOfSeries(task.series))
    return encoded
  }

  async function encode(resolved: ResolvedNames, task: Omit<EncodeLinesTask, 'series'>): Promise<EncodedLines> {
    if (task.rows.count === 0) return { records: new Uint8Array(), count: 0, expired: [], expiredCount: 0 }
    const encoded = await encodeRows({ ...task, series: packSeries(resolved, textIndexes(task.names)) })
    if (!('kind' in encoded)) return encoded
    const nameOf = createNameOf(task.names, resolved)
    const texts = resolved.map((_, index) => nameOf(index))
    const names = { count: texts.length, parts: packTexts(texts), partsPerName: 1, known: undefined }
    const series = packSeries(resolved, textIndexes(names))
    const again = await encodeRows({ ...task, rows: encoded.rows, names, series })
    if ('kind' in again) throw bug('rows with names as text need no known names')
    return again
  }

  return {
    read: task => pool.run(task, { name: 'read', transferList: [task.body.buffer] }),
    encode,
    close: () => pool.destroy(),
  }
}
