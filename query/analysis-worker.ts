/** A thread of the analysis pool: the queries that take long, so that the light ones do not wait for them. */

import { workerData } from 'piscina'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { createPgConnection } from '../store/questdb/client/questdb-pg.ts'
import { lowerThreadPriority } from '../store/thread-priority.ts'
import { answerDaily } from './answers/daily-task.ts'
import { answerInsights } from './answers/insights-task.ts'
import { answerStats } from './answers/stats-task.ts'
import { encodeText } from './cache/encode-body.ts'
import { createFleetReader } from './fleet.ts'
import { createMeasurementsSource } from './questdb/measurements-source.ts'
import { createReadingsSource } from './questdb/readings-source.ts'
import { runTask } from './run-task.ts'
import type { AnalysisQueries, Task, TaskResult, WorkerSettings } from './task.ts'

lowerThreadPriority('low')
const settings: WorkerSettings = workerData
const { bodyBytesMax, rowsMax } = settings
const connection = createPgConnection(settings.questdb.pg, settings)
const source = createReadingsSource(settings, connection)
const measurements = createMeasurementsSource(settings, connection)
const local = createLocalTime(settings.timeZone)
const readFleet = createFleetReader()

export function stats(task: Task<AnalysisQueries['stats']>): Promise<TaskResult> {
  return runTask(task, signal => answerStats(task, { source, measurements, local, signal, rowsMax }))
}

export function daily(task: Task<AnalysisQueries['daily']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeText(await answerDaily(task, { source, measurements, local, signal, rowsMax }), bodyBytesMax)
  })
}

export function insights(task: Task<AnalysisQueries['insights']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeText(await answerInsights(task, readFleet(task.fleet), { connection, signal }), bodyBytesMax)
  })
}
