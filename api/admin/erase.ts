/** Erasing a device with all its readings, by HTTP: asked for once, reported on until it is done. */

import { composedName } from '../../auth/devices/device.ts'
import type { EraseJobs } from '../../lifecycle/erasure/erase-jobs.ts'
import { EraseReport } from '../../lifecycle/erasure/erase-records.ts'
import { DevicePath, sendRefusal, sendUnsettled } from './devices.ts'
import { type AdminOperation, operation } from './operation.ts'

const Report = EraseReport.meta({ id: 'EraseReport' })

export function eraseOperations(jobs: EraseJobs): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/devices/:name/erase',
      name: 'admin_get_erase',
      summary: 'How an erase job goes',
      parameters: { path: DevicePath },
      success: { status: 200, description: 'Its report', json: Report },
      refusals: ['DEVICE_UNKNOWN'],
      async handle({ path }, reply) {
        if (!(await jobs.reconcile())) return sendUnsettled(reply)
        const found = await jobs.report(composedName(path.name))
        return found === undefined ? sendRefusal(reply, 'DEVICE_UNKNOWN') : reply.send(found)
      },
    }),
    operation({
      method: 'POST',
      path: '/devices/:name/erase',
      name: 'admin_erase',
      summary: 'Remove a device and its readings',
      parameters: { path: DevicePath },
      success: { status: 202, description: 'The job, which goes on', json: Report },
      refusals: ['DEVICE_UNKNOWN', 'OUTCOME_UNKNOWN'],
      async handle({ path, actor }, reply) {
        const name = composedName(path.name)
        const requested = await jobs.request(name, actor)
        if (!requested.ok) return sendRefusal(reply, requested.code)
        const location = `/api/admin/devices/${encodeURIComponent(name)}/erase`
        return reply.code(202).header('location', location).send(requested.value)
      },
    }),
  ]
}
