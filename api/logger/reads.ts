/** What anybody may read of the loggers: the latest readings, a day, and what a device is. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices.ts'
import { type Answer, type AnswerCode, bodyOf } from '../../query/body.ts'
import { finishBody } from '../../query/finish.ts'
import type { Query } from '../../query/query.ts'
import { refuseOtherMethods } from '../other-methods.ts'
import { sendBody } from '../send-body.ts'
import { allowAnyOrigin, answerPreflight } from './any-origin.ts'
import { devicesMax, readDevices, readHours } from './latest-parameters.ts'

export interface ReadsOptions {
  query: Pick<Query, 'latestAll' | 'latestOf' | 'day' | 'coded'>
  devices: Pick<Devices, 'get' | 'active'>
}

interface Refusal {
  readonly code: number
  readonly status: string
  readonly retryAfterSeconds?: number
}

const refusalOf = {
  DATE_INVALID: { code: 400, status: 'date must be a day of the calendar, as 2026-01-31' },
  TOO_LARGE: { code: 413, status: 'too many readings for one answer' },
  DATABASE_AWAY: { code: 503, status: 'database unavailable', retryAfterSeconds: 5 },
  TIMED_OUT: { code: 503, status: 'database unavailable', retryAfterSeconds: 10 },
  QUEUE_FULL: { code: 503, status: 'too many questions at once', retryAfterSeconds: 2 },
  CLOSING: { code: 503, status: 'shutting down', retryAfterSeconds: 5 },
  CANCELLED: { code: 503, status: 'cancelled', retryAfterSeconds: 1 },
} satisfies Record<AnswerCode, Refusal>

const unknown: Refusal = { code: 404, status: 'not found' }
const hourInvalid: Refusal = { code: 400, status: 'hour must be a whole number from 1 to 72' }
const devicesInvalid: Refusal = { code: 400, status: `devices must name 1 to ${devicesMax} devices` }
const latestTooLarge: Refusal = {
  code: 413,
  status: `too many readings for one answer: name up to ${devicesMax} devices with ?devices=a,b`,
}

/** What a device is changes seldom, and nobody is hurt by seeing it a little later. */
const deviceMaxAgeSeconds = 10

type LatestRequest = FastifyRequest<{ Params: { hour: string }; Querystring: { devices?: string | string[] } }>
type DayRequest = FastifyRequest<{ Params: { device: string; date: string } }>
type DeviceRequest = FastifyRequest<{ Params: { name: string } }>
type Sent = FastifyReply | Promise<FastifyReply>

export function registerReads(app: FastifyInstance, { query, devices }: ReadsOptions): void {
  const active = () => devices.active()

  function latest(request: LatestRequest, reply: FastifyReply): Sent {
    const hours = readHours(request.params.hour)
    if (hours === undefined) return refuse(reply, hourInvalid)
    const names = request.query.devices
    if (names === undefined) return giveLatest(request, reply, query.latestAll(hours, active))
    const asked = readDevices(names, name => devices.get(name))
    if (!asked.ok) return refuse(reply, asked.code === 'DEVICE_UNKNOWN' ? unknown : devicesInvalid)
    return giveLatest(request, reply, query.latestOf(hours, asked.devices, leavingOf(reply)))
  }

  function giveLatest(request: LatestRequest, reply: FastifyReply, answer: Answer | Promise<Answer>): Sent {
    return give(request, reply, answer, latestTooLarge)
  }

  function day(request: DayRequest, reply: FastifyReply): Sent {
    const device = devices.get(request.params.device)
    if (device === undefined) return refuse(reply, unknown)
    return give(request, reply, query.day(device, request.params.date, leavingOf(reply)), refusalOf.TOO_LARGE)
  }

  function device(request: DeviceRequest, reply: FastifyReply): Sent {
    const device = devices.get(request.params.name)
    if (device === undefined) return refuse(reply, unknown)
    const { location_short, location_desc, log_switch, battery } = device
    const text = JSON.stringify({ location_short, location_desc, log_switch, battery })
    const body = bodyOf(finishBody(new TextEncoder().encode(text)))
    return sendBody(request, reply, body, deviceMaxAgeSeconds, query.coded)
  }

  function give(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer | Promise<Answer>,
    tooLarge: Refusal,
  ): Sent {
    // A body from memory goes out within this turn: a promise kept would cost more than all the rest.
    if (answer instanceof Promise) return answer.then(given => give(request, reply, given, tooLarge))
    if (answer.ok) return sendBody(request, reply, answer.body, answer.maxAgeSeconds, query.coded)
    return refuse(reply, answer.code === 'TOO_LARGE' ? tooLarge : refusalOf[answer.code])
  }

  allowAnyOrigin(app)
  const read = (url: string, handler: (request: never, reply: FastifyReply) => Sent) => {
    app.route({ method: 'GET', url, handler: handler as (request: FastifyRequest, reply: FastifyReply) => Sent })
    answerPreflight(app, url)
    refuseOtherMethods(app, url, ['GET', 'HEAD', 'OPTIONS'])
  }
  read('/api/latest/all/:hour', latest)
  read('/api/data/day/:device/:date', day)
  read('/api/device/:name', device)
}

function refuse(reply: FastifyReply, { code, status, retryAfterSeconds }: Refusal): FastifyReply {
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  return reply.code(code).header('cache-control', 'no-store').header('vary', 'accept-encoding').send({ status })
}

/** Aborts when the client has left; after the answer was sent nobody listens any more. */
function leavingOf(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  reply.raw.once('close', () => leaving.abort())
  return leaving.signal
}
