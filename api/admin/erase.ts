/** Erases a device with its readings, or its values of one metric: one request starts it, others report progress. */

import { z } from 'zod'
import type { EraseJobs } from '../../service/lifecycle/erasure/erase-jobs.ts'
import { EraseReport, MetricEraseReport } from '../../service/lifecycle/erasure/erase-records.ts'
import { composed } from '../../store/plain-text.ts'
import { DevicePath, deviceRecords, sendRefusal } from './devices.ts'
import { type AdminOperation, operation } from './operation.ts'
import { requireSettled, sendProblem } from './problem.ts'

const Report = EraseReport.meta({ id: 'EraseReport' })
const MetricReport = MetricEraseReport.meta({ id: 'MetricEraseReport' })
const MetricPath = DevicePath.extend({ metric: z.string().meta({ description: 'The name of a metric' }) })

export function eraseOperations(jobs: EraseJobs): AdminOperation[] {
  return [...deviceOperations(jobs), ...metricOperations(jobs)]
}

function deviceOperations(jobs: EraseJobs): AdminOperation[] {
  return [
    deviceRecords.one({
      below: '/erase',
      name: 'admin_get_erase',
      summary: 'Progress of an erase job',
      answer: 'Its report',
      json: Report,
      async read({ path }) {
        requireSettled(await jobs.reconcile())
        return await jobs.report(composed(path.name))
      },
    }),
    operation({
      method: 'POST',
      path: '/devices/:name/erase',
      name: 'admin_erase',
      summary: 'Remove a device and its readings',
      parameters: { path: DevicePath },
      success: { status: 202, description: 'The job, which continues in the background', json: Report },
      refusals: ['DEVICE_UNKNOWN', 'OUTCOME_UNKNOWN'],
      async handle({ path, actor }, reply) {
        const name = composed(path.name)
        const requested = await jobs.request(name, actor)
        if (!requested.ok) return sendRefusal(reply, requested.code)
        const location = `/api/admin/devices/${encodeURIComponent(name)}/erase`
        return reply.code(202).header('location', location).send(requested.value)
      },
    }),
  ]
}

/** The path is below the device because a custom metric belongs to one device. */
function metricOperations(jobs: EraseJobs): AdminOperation[] {
  const path = '/devices/:name/metrics/:metric'
  return [
    operation({
      method: 'GET',
      path,
      name: 'admin_get_metric_erase',
      summary: 'Progress of an erase job of a metric',
      parameters: { path: MetricPath },
      success: { status: 200, description: 'Its report', json: MetricReport },
      refusals: ['METRIC_UNKNOWN'],
      async handle({ path: { name, metric } }, reply) {
        requireSettled(await jobs.reconcile())
        const found = await jobs.metricReport(composed(name), metric)
        return found === undefined ? sendProblem(reply, 'METRIC_UNKNOWN', noJob) : reply.send(found)
      },
    }),
    operation({
      method: 'DELETE',
      path,
      name: 'admin_erase_metric',
      summary: 'Erase the values of a metric of a device',
      description: 'If the device sends the metric again, it is a new one.',
      parameters: { path: MetricPath },
      success: { status: 202, description: 'The job, which continues in the background', json: MetricReport },
      refusals: ['DEVICE_UNKNOWN', 'METRIC_UNKNOWN', 'METRIC_BUILT_IN', 'TOO_BUSY', 'OUTCOME_UNKNOWN'],
      async handle({ path: { name, metric }, actor }, reply) {
        const device = composed(name)
        const requested = await jobs.requestMetric(device, metric, actor)
        if (!requested.ok) return sendProblem(reply, requested.code, details[requested.code])
        const location = `/api/admin/devices/${encodeURIComponent(device)}/metrics/${metric}`
        return reply.code(202).header('location', location).send(requested.value)
      },
    }),
  ]
}

const noJob = { detail: 'no erase job of this metric of this device' }

const details = {
  DEVICE_UNKNOWN: {},
  METRIC_UNKNOWN: { detail: 'the device has no metric of this name' },
  METRIC_BUILT_IN: { detail: 'it is a column of all readings; erase the device' },
}
