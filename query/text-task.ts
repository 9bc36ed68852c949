/** A task of a worker whose answer is a text about one device, or one station. */

import type { AnalysedDevice } from './analysed-device.ts'
import { encodeText } from './cache/encode-body.ts'
import type { Contexts } from './contexts.ts'
import { runTask } from './run-task.ts'
import type { Task, TaskResult } from './task.ts'
import type { TaskContext } from './task-context.ts'

export function createTextTask(contexts: Contexts, bodyBytesMax: number) {
  return function textTask<Request extends { device: AnalysedDevice }>(
    answer: (query: Request, context: TaskContext) => Promise<string>,
  ) {
    return (task: Task<Request>): Promise<TaskResult> => {
      return runTask(task, async signal => {
        const context = await contexts.of(task.device, contexts.readsOf(task), signal)
        return encodeText(await answer(task, context), bodyBytesMax)
      })
    }
  }
}
