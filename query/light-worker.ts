/** A thread of the light pool: it fetches over its own connection, computes, and hands back the finished bytes. */

import { workerData } from 'piscina'
import { createLocalTime } from '../analytics/local-time.ts'
import { buildDay } from './day-answer.ts'
import { finishBody } from './finish.ts'
import { createFleetReader } from './fleet.ts'
import { buildLatest } from './latest-answer.ts'
import { createConnection } from './questdb-connection.ts'
import type { LightQuestions, Task, TaskResult, WorkerSettings } from './task.ts'
import { answerTask } from './worker-door.ts'

const settings: WorkerSettings = workerData
const { bodyBytesMax } = settings
const connection = createConnection(settings)
const local = createLocalTime(settings.timeZone)
const readFleet = createFleetReader()

export function latest(task: Task<LightQuestions['latest']>): Promise<TaskResult> {
  return answerTask(task, async signal => {
    return finishBody(await buildLatest(task, readFleet(task.fleet), { connection, local, signal, bodyBytesMax }))
  })
}

export function day(task: Task<LightQuestions['day']>): Promise<TaskResult> {
  return answerTask(task, async signal => {
    return finishBody(await buildDay(task, { connection, local, signal, bodyBytesMax }))
  })
}
