/** `GET /api/fleet/trends`: returns hourly means and trends of named devices over 24 hours, from memory. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { FleetTrends } from '../../../query/live/fleet-shape.ts'
import type { Live } from '../../../query/live/live.ts'
import { sendBody } from '../../http/send-body.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import type { ReadAccess } from '../read-access.ts'
import { refuse, type Sent } from '../read-answers.ts'
import { jsonRead } from '../read-operation.ts'
import { fleetOrNamed } from '../read-subjects.ts'
import type { Fleet } from '../readers.ts'
import { maxAgeSeconds, membersText } from './fleet-answer.ts'
import { encodeFleetBody, fleetBodyOf } from './fleet-body.ts'

/** More than any screen shows. */
const devicesMax = 100
const namesMissing = `device must name a device, and may be given ${devicesMax} times`

export interface TrendsOptions {
  live: Pick<Live, 'isLoaded' | 'trends'>
  nowMs: () => number
}

export function trendsOperation(access: ReadAccess, { live, nowMs }: TrendsOptions): ReadOperation {
  function trends({ named }: Fleet, request: FastifyRequest, reply: FastifyReply): Sent {
    if (named === undefined) return refuse(reply, 'PARAMETER_INVALID', namesMissing)
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const body = fleetBodyOf(`{"generated_at":${nowMs()},`, membersText(live.trends(named)))
    return sendBody(request, reply, body, maxAgeSeconds, encodeFleetBody)
  }

  return jsonRead(access, {
    path: '/fleet/trends',
    name: 'read_fleet_trends',
    summary: 'The last 24 hours of some devices, and their trends',
    subject: fleetOrNamed('device', devicesMax, reader => reader.listed ?? reader.device),
    parameters: { query: TrendsQuery },
    answer: FleetTrends.meta({ id: 'FleetTrends' }),
    refusals: ['DEVICE_UNKNOWN'],
    handle: trends,
  })
}

const TrendsQuery = z.object({
  device: z
    .array(z.string())
    .min(1)
    .max(devicesMax)
    .meta({ description: `A device; given up to ${devicesMax} times` }),
})
