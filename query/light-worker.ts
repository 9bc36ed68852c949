/** A thread of the light pool: it fetches over its own connections, computes, and hands back the finished bytes. */

import { workerData } from 'piscina'
import type { AnalysedDevice } from './analysed-device.ts'
import { answerCompare } from './answers/compare-task.ts'
import { answerDaily } from './answers/daily-task.ts'
import { buildDay } from './answers/day-answer.ts'
import { answerDetail } from './answers/detail-task.ts'
import { readFleetDevices } from './answers/fleet-devices-task.ts'
import { readFleetFurther, readFleetHour, readFleetLast } from './answers/fleet-tasks.ts'
import { buildLatest } from './answers/latest-answer.ts'
import { answerPast } from './answers/past-task.ts'
import { encodeBody, encodeText } from './cache/encode-body.ts'
import { createContexts } from './contexts.ts'
import { createFleetReader } from './fleet.ts'
import { runTask } from './run-task.ts'
import { answerStationLatest } from './stations/latest-task.ts'
import { answerStationUnits } from './stations/units-task.ts'
import type { LightQueries, Task, TaskResult, WorkerSettings } from './task.ts'
import type { TaskContext } from './task-context.ts'

const settings: WorkerSettings = workerData
const { bodyBytesMax } = settings
const contexts = createContexts(settings)
const { connection, source, local } = contexts
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

export function compare(task: Task<LightQueries['compare']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeText(await answerCompare(task, contexts.ofDevices(signal)), bodyBytesMax)
  })
}

export const detail = textTask(answerDetail)
export const daily = textTask(answerDaily)
export const past = textTask(answerPast)
export const stationLatest = textTask(answerStationLatest)

export function stationUnits(task: Task<LightQueries['stationUnits']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeText(await answerStationUnits(task, { connection, signal }), bodyBytesMax)
  })
}

function textTask<Request extends { device: AnalysedDevice }>(
  answer: (query: Request, context: TaskContext) => Promise<string>,
) {
  return (task: Task<Request>): Promise<TaskResult> => {
    return runTask(task, async signal => {
      return encodeText(await answer(task, await contexts.of(task.device, signal)), bodyBytesMax)
    })
  }
}
