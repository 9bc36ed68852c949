/** `GET /api/fleet/groups`: how many devices have each tag of a key, by state, from memory. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { FleetGroups } from '../../../live/fleet-shape.ts'
import type { Live } from '../../../live/live.ts'
import { sendBody } from '../../http/send-body.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import type { ReadAccess } from '../read-access.ts'
import { refuse, type Sent } from '../read-answers.ts'
import { jsonRead } from '../read-operation.ts'
import { wholeFleet } from '../read-subjects.ts'
import { type Fleet, isWhole } from '../readers.ts'
import { createFleetBodies, encodeFleetBody, fleetBodyOf } from './fleet-body.ts'
import { GroupsQuery } from './fleet-parameters.ts'
import { listedOf } from './listed.ts'

export interface GroupsOptions {
  live: Pick<Live, 'isLoaded' | 'groups'>
  nowMs: () => number
}

const maxAgeSeconds = 1

export function groupsOperation(access: ReadAccess, { live, nowMs }: GroupsOptions): ReadOperation {
  const bodies = createFleetBodies()

  function groups(fleet: Fleet, request: FastifyRequest, reply: FastifyReply): Sent {
    const url = request.originalUrl
    const kept = isWhole(fleet) ? bodies.get(url) : undefined
    if (kept !== undefined) return sendBody(request, reply, kept, maxAgeSeconds, encodeFleetBody)
    const parameters = GroupsQuery.safeParse(request.query)
    if (!parameters.success) return refuse(reply, 'PARAMETER_INVALID', parameters.error.issues[0]?.message)
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const { key, tag } = parameters.data
    const counting = live.groups(key, listedOf(fleet, tag))
    if (counting === undefined) return refuse(reply, 'QUEUE_FULL')
    const send = (found: Omit<FleetGroups, 'generated_at'>) => {
      const body = fleetBodyOf(`{"generated_at":${nowMs()},`, JSON.stringify(found).slice(1))
      if (isWhole(fleet)) bodies.set(url, body)
      return sendBody(request, reply, body, maxAgeSeconds, encodeFleetBody)
    }
    return counting.then(send, () => refuse(reply, 'CANCELLED'))
  }

  return jsonRead(access, {
    path: '/fleet/groups',
    name: 'read_fleet_groups',
    summary: 'The devices by their tags of a key, counted by state',
    subject: wholeFleet,
    parameters: { query: GroupsQuery },
    answer: FleetGroups.meta({ id: 'FleetGroups' }),
    handle: groups,
  })
}
