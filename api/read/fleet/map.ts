/** `GET /api/fleet/map`: where the devices are, in at most so many marks, from memory. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { FleetMap } from '../../../live/fleet-shape.ts'
import type { Live } from '../../../live/live.ts'
import { sendBody } from '../../http/send-body.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import type { ReadAccess } from '../read-access.ts'
import { refuse, type Sent } from '../read-answers.ts'
import { jsonRead } from '../read-operation.ts'
import { wholeFleet } from '../read-subjects.ts'
import { type Fleet, isWhole } from '../readers.ts'
import { createFleetBodies, encodeFleetBody, fleetBodyOf } from './fleet-body.ts'
import { MapQuery, mapFault } from './fleet-parameters.ts'
import { listedOf } from './listed.ts'

export interface MapOptions {
  live: Pick<Live, 'isLoaded' | 'map'>
  nowMs: () => number
}

const maxAgeSeconds = 1

export function mapOperation(access: ReadAccess, { live, nowMs }: MapOptions): ReadOperation {
  const bodies = createFleetBodies()

  function map(fleet: Fleet, request: FastifyRequest, reply: FastifyReply): Sent {
    if (fleet.hidesPlaces === true) return refuse(reply, 'DEVICE_MISMATCH')
    const url = request.originalUrl
    const kept = isWhole(fleet) ? bodies.get(url) : undefined
    if (kept !== undefined) return sendBody(request, reply, kept, maxAgeSeconds, encodeFleetBody)
    const parameters = MapQuery.safeParse(request.query)
    if (!parameters.success) return refuse(reply, 'PARAMETER_INVALID', mapFault(parameters.error.issues[0]))
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const { state, q, tag, box } = parameters.data
    const finding = live.map({ states: state, search: q, box }, listedOf(fleet, tag))
    if (finding === undefined) return refuse(reply, 'QUEUE_FULL')
    const send = (found: Omit<FleetMap, 'generated_at'>) => {
      const body = fleetBodyOf(`{"generated_at":${nowMs()},`, JSON.stringify(found).slice(1))
      if (isWhole(fleet)) bodies.set(url, body)
      return sendBody(request, reply, body, maxAgeSeconds, encodeFleetBody)
    }
    return finding.then(send, () => refuse(reply, 'CANCELLED'))
  }

  return jsonRead(access, {
    path: '/fleet/map',
    name: 'read_fleet_map',
    summary: 'Where the devices are, counted by state',
    subject: wholeFleet,
    parameters: { query: MapQuery },
    answer: FleetMap.meta({ id: 'FleetMap' }),
    handle: map,
  })
}
