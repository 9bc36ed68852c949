/** A thread of the analysis pool. It runs the long queries, so that the light ones do not wait for them. */

import { workerData } from 'piscina'
import { lowerThreadPriority } from '../store/thread-priority.ts'
import { answerAnomalies } from './answers/anomalies-task.ts'
import { answerDaily } from './answers/daily-task.ts'
import { answerExcursions } from './answers/excursions-task.ts'
import { answerInsights } from './answers/insights-task.ts'
import { answerStats } from './answers/stats-task.ts'
import { encodeText } from './cache/encode-body.ts'
import { createContexts } from './contexts.ts'
import { answerChanges } from './hours/changes-answer.ts'
import { answerDomain } from './hours/domain-answer.ts'
import { answerForecast } from './hours/forecast-answer.ts'
import { createInsightsFleetReader } from './insights-fleet.ts'
import { runTask } from './run-task.ts'
import type { AnalysisQueries, Task, TaskResult, WorkerSettings } from './task.ts'
import { createTextTask } from './text-task.ts'

lowerThreadPriority('low')
const settings: WorkerSettings = workerData
const { bodyBytesMax } = settings
const contexts = createContexts(settings)
const { local, readsOf } = contexts
const textTask = createTextTask(contexts, bodyBytesMax)
const readFleet = createInsightsFleetReader()

export function stats(task: Task<AnalysisQueries['stats']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    const answer = await answerStats(task, await contexts.of(task.device, readsOf(task), signal))
    return typeof answer === 'string' ? encodeText(answer, bodyBytesMax) : answer
  })
}

export const daily = textTask(answerDaily)
export const anomalies = textTask(answerAnomalies)
export const excursions = textTask(answerExcursions)
export const changes = textTask(answerChanges)
export const forecast = textTask(answerForecast)
export const domain = textTask(answerDomain)

export function insights(task: Task<AnalysisQueries['insights']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeText(
      await answerInsights(task, readFleet(task.fleet), { connection: readsOf(task).connection, signal, local }),
      bodyBytesMax,
    )
  })
}
