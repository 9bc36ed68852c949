/** A thread of the light pool: it fetches over its own connection, computes, and hands back the finished bytes. */

import type { MessagePort } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina'
import { createLocalTime } from '../analytics/local-time.ts'
import { buildDay } from './day-answer.ts'
import { finishBody } from './finish.ts'
import { createFleetReader } from './fleet.ts'
import { buildLatest } from './latest-answer.ts'
import { createConnection } from './questdb-connection.ts'
import { type DayTask, type LatestTask, QuestionFailed, type TaskResult, type WorkerSettings } from './task.ts'

const settings: WorkerSettings = workerData
const { bodyBytesMax } = settings
const connection = createConnection(settings)
const local = createLocalTime(settings.timeZone)
const readFleet = createFleetReader()

export function latest(task: LatestTask): Promise<TaskResult> {
  return answer(task.control, signal => {
    return buildLatest(task, readFleet(task.fleet), { connection, local, signal, bodyBytesMax })
  })
}

export function day(task: DayTask): Promise<TaskResult> {
  return answer(task.control, signal => buildDay(task, { connection, local, signal, bodyBytesMax }))
}

async function answer(
  control: MessagePort,
  build: (signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<TaskResult> {
  const stopping = new AbortController()
  control.on('message', () => stopping.abort())
  control.postMessage('begun')
  try {
    return moved({ ok: true, ...finishBody(await build(stopping.signal)) })
  } catch (error) {
    if (!(error instanceof QuestionFailed)) throw error
    return { ok: false, code: error.code, reason: error.message }
  } finally {
    control.close()
  }
}

/** The buffers change hands instead of being copied. */
function moved(result: Extract<TaskResult, { ok: true }>): TaskResult {
  const buffers = [result.bytes.buffer, ...(result.gzip === undefined ? [] : [result.gzip.buffer])]
  // What `move` returns is unwrapped on the way; the pool's caller gets the result itself.
  return move({ [transferableSymbol]: buffers, [valueSymbol]: result }) as unknown as TaskResult
}
