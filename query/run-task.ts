/** Runs a task in a worker: signals that it has begun, stops on request, and returns a result. */

import { move, transferableSymbol, valueSymbol } from 'piscina'
import { failureCode } from './query-failed.ts'
import type { Encoded, Task, TaskResult } from './task.ts'

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
