/** What anybody may read of the loggers: the latest readings, a day, and what a device is. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import { bodyOf } from '../../query/cache/body.ts'
import { encodeBody } from '../../query/cache/encode-body.ts'
import type { Query } from '../../query/query.ts'
import { readDevices } from '../device-names.ts'
import { addCorsHeaders } from '../http/cors.ts'
import { leavingOf } from '../http/leaving.ts'
import { sendBody } from '../http/send-body.ts'
import type { PublicDevice } from './device-shape.ts'
import { readHours } from './latest-parameters.ts'
import { addRead, refuse, type Sent, sendAnswer } from './read-answers.ts'

export interface ReadsOptions {
  query: Pick<Query, 'latestAll' | 'latestOf' | 'day' | 'coded'>
  devices: Pick<Devices, 'get' | 'active'>
}

/** What a device is changes seldom, and nobody is hurt by seeing it a little later. */
const deviceMaxAgeSeconds = 10

type LatestRequest = FastifyRequest<{ Params: { hour: string }; Querystring: { devices?: string | string[] } }>
type DayRequest = FastifyRequest<{ Params: { device: string; date: string } }>
type DeviceRequest = FastifyRequest<{ Params: { name: string } }>

export function registerReads(app: FastifyInstance, { query, devices }: ReadsOptions): void {
  const active = () => devices.active()

  function latest(request: LatestRequest, reply: FastifyReply): Sent {
    const hours = readHours(request.params.hour)
    if (hours === undefined) return refuse(reply, 'HOUR_INVALID')
    const names = request.query.devices
    if (names === undefined)
      return sendAnswer(request, reply, query.latestAll(hours, active), query.coded, 'TOO_MANY_DEVICES')
    const asked = readDevices(names, name => devices.get(name))
    if (!asked.ok) return refuse(reply, asked.code)
    // Those that do not log are known but have no place in the answer.
    const logging = asked.devices.filter(({ log_switch }) => log_switch)
    const answer = query.latestOf(hours, logging, leavingOf(reply))
    return sendAnswer(request, reply, answer, query.coded, 'TOO_MANY_DEVICES')
  }

  function day(request: DayRequest, reply: FastifyReply): Sent {
    const device = devices.get(request.params.device)
    if (device === undefined) return refuse(reply, 'DEVICE_UNKNOWN')
    return sendAnswer(request, reply, query.day(device, request.params.date, leavingOf(reply)), query.coded)
  }

  function device(request: DeviceRequest, reply: FastifyReply): Sent {
    const device = devices.get(request.params.name)
    if (device === undefined) return refuse(reply, 'DEVICE_UNKNOWN')
    const { location_short, location_desc, log_switch, battery } = device
    const text = JSON.stringify({ location_short, location_desc, log_switch, battery } satisfies PublicDevice)
    const body = bodyOf(encodeBody(new TextEncoder().encode(text)))
    return sendBody(request, reply, body, deviceMaxAgeSeconds, query.coded)
  }

  addCorsHeaders(app)
  addRead(app, '/latest/all/:hour', latest)
  addRead(app, '/data/day/:device/:date', day)
  addRead(app, '/device/:name', device)
}
