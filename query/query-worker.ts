/** A thread of a pool of queries: it fetches over its own connections, computes, and hands back the finished bytes. */

import { workerData } from 'piscina'
import { lowerThreadPriority } from '../store/thread-priority.ts'
import { computationOf } from './analyses/analyses.ts'
import { readFleetDevices } from './answers/fleet-devices-task.ts'
import { readFleetCustom, readFleetHour, readFleetLast } from './answers/fleet-tasks.ts'
import { encodeBody, encodeText } from './cache/body.ts'
import { createContexts } from './contexts.ts'
import { buildDay } from './day.ts'
import { createFleetReader } from './fleet.ts'
import { answerInsights } from './insights.ts'
import { createInsightsFleetReader } from './insights-fleet.ts'
import { buildLatest } from './latest.ts'
import type { Queries } from './queries.ts'
import { answerStationUnits } from './stations/unit-reads.ts'
import { runTask, type Task, type TaskResult, type WorkerSettings } from './task.ts'

const settings: WorkerSettings = workerData
if (settings.isIdle) lowerThreadPriority('low')
const { bodyBytesMax } = settings
const contexts = createContexts(settings)
const { local, readsOf } = contexts
const readFleet = createFleetReader()
const readInsightsFleet = createInsightsFleetReader()

export function analysis(task: Task<Queries['analysis']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    const context = await contexts.of(task.device, readsOf(task), signal)
    const answer = await computationOf(task.computation).compute(task, context)
    return typeof answer === 'string' ? encodeText(answer, bodyBytesMax) : answer
  })
}

export function latest(task: Task<Queries['latest']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    const context = { connection: readsOf(task).connection, local, signal, bodyBytesMax }
    return encodeBody(await buildLatest(task, readFleet(task.fleet), context))
  })
}

export function day(task: Task<Queries['day']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeBody(await buildDay(task, { connection: readsOf(task).connection, local, signal, bodyBytesMax }))
  })
}

export function insights(task: Task<Queries['insights']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    const context = { connection: readsOf(task).connection, signal, local }
    return encodeText(await answerInsights(task, readInsightsFleet(task.fleet), context), bodyBytesMax)
  })
}

export function stationUnits(task: Task<Queries['stationUnits']>): Promise<TaskResult> {
  return runTask(task, async signal => {
    return encodeText(await answerStationUnits(task, { connection: readsOf(task).connection, signal }), bodyBytesMax)
  })
}

export function fleetLast(task: Task<Queries['fleetLast']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetLast(task, readsOf(task).connection, signal))
}

export function fleetCustom(task: Task<Queries['fleetCustom']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetCustom(task, readsOf(task).connection, signal))
}

export function fleetHour(task: Task<Queries['fleetHour']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetHour(task, readsOf(task).connection, signal))
}

export function fleetDevices(task: Task<Queries['fleetDevices']>): Promise<TaskResult> {
  return runTask(task, signal => readFleetDevices(task, { ...readsOf(task), signal }))
}
