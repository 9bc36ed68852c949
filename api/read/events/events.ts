/** `GET /api/events`: server-sent events of stored readings and of devices that change their state. */

import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { Ingest } from '../../../ingest/ingest.ts'
import type { EventSink, Subscription } from '../../../live/events/event-client.ts'
import { EventHub } from '../../../live/events/event-hub.ts'
import type { EventMeter } from '../../../live/events/event-meter.ts'
import type { Log } from '../../../store/log.ts'
import { addCorsHeaders } from '../../http/cors.ts'
import type { LoggerErrorCode } from '../../http/status-errors.ts'
import { createStreamSlots, type SlotRefusal } from '../../http/stream-slots.ts'
import type { ReadAccess } from '../read-access.ts'
import { refuse } from '../read-answers.ts'
import { addRead } from '../read-route.ts'
import type { Fleet } from '../readers.ts'
import { eventParameterNames, eventsSubject, subscriptionIn } from './event-parameters.ts'

export interface EventsOptions {
  ingest: Pick<Ingest, 'onStored'>
  /** Calls the listener with each change of a device's state. */
  onState?: (listener: (deviceNumber: number, state: string) => void) => void
  devices: Pick<Devices, 'byNumber'>
  clientsMax: number
  /** Of a network, and of a credential. */
  clientsOfOneMax: number
  windowMs: number
  windowBytes: number
  /** After this a client connects again, and is asked for its credential. */
  lifetimeMs?: number | undefined
  nowMs: () => number
  meter: EventMeter
  log: Log
}

/** How long a browser waits before it connects again. */
const retry = 'retry: 3000\n\n'

const slotRefusals = {
  'of all': 'TOO_MANY_STREAMS',
  'of the network': 'TOO_MANY_STREAMS_OF_NETWORK',
  'of the credential': 'TOO_MANY_STREAMS_OF_CREDENTIAL',
} as const satisfies Record<SlotRefusal, LoggerErrorCode>

export function registerEvents(app: FastifyInstance, access: ReadAccess, options: EventsOptions): void {
  const { ingest, onState, devices, clientsMax, clientsOfOneMax, nowMs, lifetimeMs, log } = options
  const slots = createStreamSlots({ slotsMax: clientsMax, slotsOfOneMax: clientsOfOneMax, nowMs })
  const hub = new EventHub({
    ...options,
    run: randomBytes(8).toString('hex'),
    nameOf: number => devices.byNumber(number)?.name,
    ownerOf: number => devices.byNumber(number)?.owner ?? undefined,
    failed: error => log.error({ err: error }, 'events could not be told, clients disconnected'),
  })
  ingest.onStored(readings => hub.store(readings))
  onState?.((device, state) => hub.stateChanged(device, state))
  // Before the server waits for its requests: these would last.
  app.addHook('preClose', done => {
    hub.close()
    done()
  })

  async function open(fleet: Fleet, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const subscription = subscriptionIn(request.query as object, fleet)
    if (typeof subscription === 'string') return refuse(reply, 'PARAMETER_INVALID', subscription)
    if (hub.isClosed) return refuse(reply, 'CLOSING')
    const slot = slots.take(reply.raw, { address: request.ip, credential: access.credentialOf(request) })
    if (typeof slot === 'string') return refuse(reply, slotRefusals[slot])
    reply.header('content-type', 'text/event-stream').header('cache-control', 'no-store')
    // A proxy that gathers a response before it passes it on would hold all of it.
    reply.header('x-accel-buffering', 'no').header('connection', 'close')
    if (request.method === 'HEAD') return reply.send('')
    reply.hijack()
    stream(request, reply, hub, subscription, lifetimeMs)
    return reply
  }

  addCorsHeaders(app)
  const parameters = eventParameterNames
  addRead(app, access, { url: '/events', subject: eventsSubject, parameters, handler: open })
}

/** The end of the connection ends the body: without chunks all clients get the same bytes. */
function stream(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  hub: EventHub,
  subscription: Subscription,
  lifetimeMs: number | undefined,
): void {
  const { raw: response } = reply
  const lastEventId = headers['last-event-id']
  response.removeHeader('transfer-encoding')
  response.writeHead(200, reply.getHeaders() as Record<string, string>)
  response.write(retry)
  const leave = hub.subscribe(
    sinkOf(response),
    subscription,
    lastEventId === undefined ? undefined : String(lastEventId),
  )
  const timer = lifetimeMs === undefined ? undefined : setTimeout(leave, lifetimeMs).unref()
  response.on('error', leave)
  response.once('close', () => {
    clearTimeout(timer)
    leave()
  })
}

function sinkOf(response: ServerResponse): EventSink {
  return {
    write: bytes => response.write(bytes),
    onDrained: drained => void response.on('drain', drained),
    destroy: () => void response.destroy(),
  }
}
