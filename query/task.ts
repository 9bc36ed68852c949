/** Messages between the main thread and a worker, and the run of a task in a worker. */

import type { MessagePort } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import type { EncodedBody } from './cache/body.ts'
import type { ResponseTemplate } from './cache/response-template.ts'
import { type FailureCode, failureCode } from './query-failed.ts'
import type { StatsLive } from './stats/live.ts'

interface QuestdbTimeouts {
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
}

export interface QuestdbSettings extends QuestdbTimeouts {
  readonly questdb: QuestdbAddress
}

/** Given to a worker once, when it starts. */
export interface WorkerSettings extends QuestdbTimeouts {
  /** The first one has the number 1. */
  readonly replicas: readonly QuestdbAddress[]
  readonly timeZone: string
  /** Upper bound of the length of a body. */
  readonly bodyBytesMax: number
  /** The most readings of an analysis. */
  readonly rowsMax: number
  /** It runs at idle priority. */
  readonly isIdle?: boolean
}

/** A worker signals at `control` that it has begun, and receives the request to stop there. */
export type Task<Query> = Query & {
  readonly control: MessagePort
  /** The number of the replica that is read. */
  readonly replica: number
}

/** The result of a task: a whole body, or a template whose dynamic part is written when it is served. */
export type Encoded = EncodedBody | ResponseTemplate<StatsLive>

export type TaskResult<Result = Encoded> =
  | { readonly ok: true; readonly encoded: Result }
  | { readonly ok: false; readonly code: FailureCode; readonly reason: string }

/** Runs a task in a worker: signals that it has begun, stops on request, and returns a result. */
export async function runTask<Result extends object = Encoded>(
  { control }: Pick<Task<object>, 'control'>,
  build: (signal: AbortSignal) => Promise<Result>,
): Promise<TaskResult<Result>> {
  const stopping = new AbortController()
  control.on('message', () => stopping.abort())
  control.postMessage('begun')
  try {
    return moved({ ok: true, encoded: await build(stopping.signal) })
  } catch (error) {
    const code = failureCode(error)
    if (code === undefined) throw error
    const reason = error instanceof Error ? error.message : String(error)
    return { ok: false, code, reason }
  } finally {
    control.close()
  }
}

/** The buffers are transferred instead of copied. */
function moved<Result extends object>(result: { ok: true; encoded: Result }): TaskResult<Result> {
  const buffers = Object.values(result.encoded)
    .filter(value => value instanceof Uint8Array)
    .map(({ buffer }) => buffer)
  // The transfer unwraps the value of `move`. The pool's caller gets the result itself.
  return move({ [transferableSymbol]: buffers, [valueSymbol]: result }) as unknown as TaskResult<Result>
}
