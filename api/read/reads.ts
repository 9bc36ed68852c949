/** What may be read of the loggers as given: the latest readings, a day, and what a device is. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import { bodyOf } from '../../query/cache/body.ts'
import { encodeBody } from '../../query/cache/encode-body.ts'
import type { Query } from '../../query/query.ts'
import { addCorsHeaders } from '../http/cors.ts'
import { disconnectSignalOf } from '../http/disconnect-signal.ts'
import { sendBody } from '../http/send-body.ts'
import type { PublicDevice } from './device-shape.ts'
import { readHours } from './latest-parameters.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, type Sent, sendAnswer } from './read-answers.ts'
import { addRead } from './read-route.ts'
import { deviceInPath, fleetOrListed } from './read-subjects.ts'
import { type Fleet, isWhole } from './readers.ts'

export interface ReadsOptions {
  query: Pick<Query, 'latestAll' | 'latestOf' | 'day' | 'coded'>
}

/** What a device is changes seldom, and nobody is hurt by seeing it a little later. */
const deviceMaxAgeSeconds = 10

type LatestRequest = FastifyRequest<{ Params: { hour: string } }>
type DayRequest = FastifyRequest<{ Params: { date: string } }>

export function registerReads(app: FastifyInstance, access: ReadAccess, { query }: ReadsOptions): void {
  function latest(fleet: Fleet, request: LatestRequest, reply: FastifyReply): Sent {
    const hours = readHours(request.params.hour)
    if (hours === undefined) return refuse(reply, 'HOUR_INVALID')
    const answer = isWhole(fleet)
      ? query.latestAll(hours, fleet.active)
      : query.latestOf(hours, fleet.active(), disconnectSignalOf(reply))
    return sendAnswer(request, reply, answer, query.coded, 'TOO_MANY_DEVICES')
  }

  function day(device: Device, request: DayRequest, reply: FastifyReply): Sent {
    return sendAnswer(request, reply, query.day(device, request.params.date, disconnectSignalOf(reply)), query.coded)
  }

  function describe(device: Device, request: FastifyRequest, reply: FastifyReply): Sent {
    const { location_short, location_desc, log_switch, battery } = device
    const text = JSON.stringify({ location_short, location_desc, log_switch, battery } satisfies PublicDevice)
    const body = bodyOf(encodeBody(new TextEncoder().encode(text)))
    return sendBody(request, reply, body, deviceMaxAgeSeconds, query.coded)
  }

  addCorsHeaders(app)
  const asGiven = { parameters: [], ignoresUnknown: true }
  addRead(app, access, {
    ...{ url: '/latest/all/:hour', subject: fleetOrListed('devices'), ...asGiven, handler: latest },
  })
  addRead(app, access, {
    ...{ url: '/data/day/:device/:date', subject: deviceInPath('device'), ...asGiven, handler: day },
  })
  addRead(app, access, { url: '/device/:name', subject: deviceInPath('name'), ...asGiven, handler: describe })
}
