/** A thread of the light pool: it fetches over its own connections, computes, and hands back the finished bytes. */

import { workerData } from 'piscina'
import { answerCompare } from './answers/compare-task.ts'
import { answerDaily } from './answers/daily-task.ts'
import { buildDay } from './answers/day-answer.ts'
import { answerDetail } from './answers/detail-task.ts'
import { readFleetDevices } from './answers/fleet-devices-task.ts'
import { readFleetCustom, readFleetHour, readFleetLast } from './answers/fleet-tasks.ts'
import { buildLatest } from './answers/latest-answer.ts'
import { answerPast } from './answers/past-task.ts'
import { encodeBody, encodeText } from './cache/encode-body.ts'
import { createContexts } from './contexts.ts'
import { createFleetReader } from './fleet.ts'
import { answerNormal } from './hours/normal-answer.ts'
import { answerUnusual } from './hours/unusual-answer.ts'
import { runTask } from './run-task.ts'
import { answerStationLatest } from './stations/latest-task.ts'
import { answerStationUnits } from './stations/units-task.ts'
import type { LightQueries, Task, TaskResult, WorkerSettings } from './task.ts'
import { createTextTask } from './text-task.ts'

const settings: WorkerSettings = workerData
const { bodyBytesMax } = settings
const contexts = createContexts(settings)
const { local, readsOf } = contexts
const readFleet = createFleetReader()
const textTask = createTextTask(contexts, bodyBytesMax)

export function latest(task: Task<LightQueries['latest']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    const context = { connection: readsOf(task).connection, local, signal, bodyBytesMax }
    return encodeBody(await buildLatest(task, readFleet(task.fleet), context))
  })
}

export function day(task: Task<LightQueries['day']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeBody(await buildDay(task, { connection: readsOf(task).connection, local, signal, bodyBytesMax }))
  })
}

export function fleetLast(task: Task<LightQueries['fleetLast']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetLast(task, readsOf(task).connection, signal))
}

export function fleetCustom(task: Task<LightQueries['fleetCustom']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetCustom(task, readsOf(task).connection, signal))
}

export function fleetHour(task: Task<LightQueries['fleetHour']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetHour(task, readsOf(task).connection, signal))
}

export function fleetDevices(task: Task<LightQueries['fleetDevices']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetDevices(task, { ...readsOf(task), signal }))
}

export function compare(task: Task<LightQueries['compare']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    const context = contexts.ofReadings(readsOf(task), signal)
    return encodeText(await answerCompare(task, context), bodyBytesMax)
  })
}

export const detail = textTask(answerDetail)
export const daily = textTask(answerDaily)
export const past = textTask(answerPast)
export const normal = textTask(answerNormal)
export const unusual = textTask(answerUnusual)
export const stationLatest = textTask(answerStationLatest)

export function stationUnits(task: Task<LightQueries['stationUnits']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeText(await answerStationUnits(task, { connection: readsOf(task).connection, signal }), bodyBytesMax)
  })
}
