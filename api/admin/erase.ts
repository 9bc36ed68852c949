/** Erasing a device with all its readings, by HTTP: asked for once, reported on until it is done. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { composedName } from '../../auth/devices/device.ts'
import type { EraseJobs } from '../../lifecycle/erasure/erase-jobs.ts'
import { nameIn, sendRefusal, sendUnsettled } from './devices.ts'
import { actorIn } from './guard.ts'
import { addPath } from './paths.ts'

export function registerErase(scope: FastifyInstance, jobs: EraseJobs): void {
  async function request(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const name = composedName(nameIn(request))
    const requested = await jobs.request(name, actorIn(request))
    if (!requested.ok) return sendRefusal(reply, requested.code)
    return reply
      .code(202)
      .header('location', `/api/admin/devices/${encodeURIComponent(name)}/erase`)
      .send(requested.value)
  }

  async function report(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (!(await jobs.reconcile())) return sendUnsettled(reply)
    const found = await jobs.report(composedName(nameIn(request)))
    return found === undefined ? sendRefusal(reply, 'DEVICE_UNKNOWN') : reply.send(found)
  }

  addPath(scope, '/devices/:name/erase', { GET: report, POST: request })
}
