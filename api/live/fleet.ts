/** `GET /api/fleet` and `GET /api/latest/<device>`: what is known of the devices now, from memory; `GET /api/fleet/insights`. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import { bodyOf } from '../../query/cache/body.ts'
import { encodeBody } from '../../query/cache/encode-body.ts'
import type { FleetPage, Live } from '../../query/live/live.ts'
import type { Query } from '../../query/query.ts'
import { addCorsHeaders } from '../http/cors.ts'
import { leavingOf } from '../http/leaving.ts'
import { sendBody } from '../http/send-body.ts'
import { unknownParameter } from '../http/unknown-parameters.ts'
import { addRead, refuse, type Sent, sendAnswer } from '../logger/read-answers.ts'
import { createFleetBodies, encodeFleetBody, fleetBodyOf } from './fleet-body.ts'
import { FleetParameters, fleetParameterNames, textOfPlace } from './fleet-parameters.ts'

export interface FleetOptions {
  live: Pick<Live, 'isLoaded' | 'isCatchingUp' | 'counts' | 'page' | 'search' | 'latest'>
  query: Pick<Query, 'coded' | 'insights'>
  devices: Pick<Devices, 'get' | 'active'>
  timeZone: string
  nowMs: () => number
}

const maxAgeSeconds = 1

type FleetRequest = FastifyRequest<{ Querystring: Record<string, unknown> }>
type LatestRequest = FastifyRequest<{ Params: { device: string }; Querystring: Record<string, unknown> }>

export function registerFleet(app: FastifyInstance, { live, query, devices, timeZone, nowMs }: FleetOptions): void {
  const bodies = createFleetBodies()
  const active = () => devices.active()

  function fleet(request: FleetRequest, reply: FastifyReply): Sent {
    // By the text of the query, so that a kept body costs no look at its parameters.
    const key = request.originalUrl
    const kept = bodies.get(key)
    if (kept !== undefined) return sendBody(request, reply, kept, maxAgeSeconds, encodeFleetBody)
    const unknown = unknownParameter(request.query, fleetParameterNames)
    if (unknown !== undefined) return refuse(reply, 'PARAMETER_INVALID', unknown)
    const parameters = FleetParameters.safeParse(request.query)
    if (!parameters.success) return refuse(reply, 'PARAMETER_INVALID', parameters.error.issues[0]?.message)
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const { request: asked, search } = parameters.data
    const send = (page: FleetPage) => {
      const body = bodyWith(page, asked.order)
      bodies.set(key, body)
      return sendBody(request, reply, body, maxAgeSeconds, encodeFleetBody)
    }
    if (search === undefined) return send(live.page(asked))
    const searching = live.search(asked, search, leavingOf(reply))
    if (searching === undefined) return refuse(reply, 'QUEUE_FULL')
    return searching.then(send, () => refuse(reply, 'CANCELLED'))
  }

  function bodyWith({ devices: texts, last }: FleetPage, order: string) {
    const next = last === undefined ? null : textOfPlace(last, order)
    const more = live.isCatchingUp() ? { next, catching_up: true } : { next }
    const rest = `"time_zone":${JSON.stringify(timeZone)},"counts":${JSON.stringify(live.counts())},`
    return fleetBodyOf(
      `{"generated_at":${nowMs()},`,
      `${rest}"devices":[${texts.join(',')}],${JSON.stringify(more).slice(1)}`,
    )
  }

  function latest(request: LatestRequest, reply: FastifyReply): Sent {
    const unknown = unknownParameter(request.query, [])
    if (unknown !== undefined) return refuse(reply, 'PARAMETER_INVALID', unknown)
    const device = devices.get(request.params.device)
    if (device === undefined) return refuse(reply, 'DEVICE_UNKNOWN')
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const text = JSON.stringify(live.latest(device.number))
    return sendBody(request, reply, bodyOf(encodeBody(new TextEncoder().encode(text))), maxAgeSeconds, query.coded)
  }

  function insights(request: FleetRequest, reply: FastifyReply): Sent {
    const unknown = unknownParameter(request.query, [])
    if (unknown !== undefined) return refuse(reply, 'PARAMETER_INVALID', unknown)
    return sendAnswer(request, reply, query.insights(active), query.coded, 'FLEET_TOO_LARGE')
  }

  addCorsHeaders(app)
  addRead(app, '/fleet', fleet)
  addRead(app, '/fleet/insights', insights)
  addRead(app, '/latest/:device', latest)
}
