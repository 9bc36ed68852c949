/** A thread of the light pool: it fetches over its own connections, computes, and hands back the finished bytes. */

import { workerData } from 'piscina'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { createPgConnection } from '../store/questdb/client/questdb-pg.ts'
import { answerCompare } from './answers/compare-task.ts'
import { answerDaily } from './answers/daily-task.ts'
import { buildDay } from './answers/day-answer.ts'
import { answerDetail } from './answers/detail-task.ts'
import { readFleetDevices } from './answers/fleet-devices-task.ts'
import { readFleetFurther, readFleetHour, readFleetLast } from './answers/fleet-tasks.ts'
import { buildLatest } from './answers/latest-answer.ts'
import { answerPast } from './answers/past-task.ts'
import { encodeBody, encodeText } from './cache/encode-body.ts'
import { createFleetReader } from './fleet.ts'
import { createMeasurementsSource } from './questdb/measurements-source.ts'
import { createReadingsSource } from './questdb/readings-source.ts'
import { runTask } from './run-task.ts'
import type { LightQueries, Task, TaskResult, WorkerSettings } from './task.ts'
import type { TaskContext } from './task-context.ts'

const settings: WorkerSettings = workerData
const { bodyBytesMax, rowsMax } = settings
const connection = createPgConnection(settings.questdb.pg, settings)
const source = createReadingsSource(settings, connection)
const measurements = createMeasurementsSource(settings, connection)
const local = createLocalTime(settings.timeZone)
const readFleet = createFleetReader()

export function latest(task: Task<LightQueries['latest']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeBody(await buildLatest(task, readFleet(task.fleet), { connection, local, signal, bodyBytesMax }))
  })
}

export function day(task: Task<LightQueries['day']>): Promise<TaskResult> {
  return runTask(task, async signal => encodeBody(await buildDay(task, { connection, local, signal, bodyBytesMax })))
}

export function fleetLast(task: Task<LightQueries['fleetLast']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetLast(task, connection, signal))
}

export function fleetFurther(task: Task<LightQueries['fleetFurther']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetFurther(task, connection, signal))
}

export function fleetHour(task: Task<LightQueries['fleetHour']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetHour(task, connection, signal))
}

export function fleetDevices(task: Task<LightQueries['fleetDevices']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetDevices(task, { connection, source, signal }))
}

export const compare = textTask(answerCompare)
export const detail = textTask(answerDetail)
export const daily = textTask(answerDaily)
export const past = textTask(answerPast)

function textTask<Request>(answer: (query: Request, context: TaskContext) => Promise<string>) {
  return (task: Task<Request>): Promise<TaskResult> => {
    return runTask(task, async signal => {
      return encodeText(await answer(task, { source, measurements, local, signal, rowsMax }), bodyBytesMax)
    })
  }
}
