/** A thread of the analysis pool: the questions that take long, so that the light ones do not wait for them. */

import { workerData } from 'piscina'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { createPgConnection } from '../store/questdb/client/questdb-pg.ts'
import { answerDaily } from './answers/daily-task.ts'
import { answerStats } from './answers/stats-task.ts'
import { finishText } from './kept/finish.ts'
import { createReadingsSource } from './questdb/readings-source.ts'
import type { AnalysisQuestions, Task, TaskResult, WorkerSettings } from './task.ts'
import { lowerThreadPriority } from './thread-priority.ts'
import { answerTask } from './worker-door.ts'

lowerThreadPriority()
const settings: WorkerSettings = workerData
const { bodyBytesMax, rowsMax } = settings
const source = createReadingsSource(settings, createPgConnection(settings.questdb.pg, settings))
const local = createLocalTime(settings.timeZone)

export function stats(task: Task<AnalysisQuestions['stats']>): Promise<TaskResult> {
  return answerTask(task, signal => answerStats(task, { source, local, signal, rowsMax }))
}

export function daily(task: Task<AnalysisQuestions['daily']>): Promise<TaskResult> {
  return answerTask(task, async signal => {
    return finishText(await answerDaily(task, { source, local, signal, rowsMax }), bodyBytesMax)
  })
}
