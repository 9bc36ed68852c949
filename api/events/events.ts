/** `GET /api/events`: server-sent events of stored readings and of devices that change their state. */

import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Log } from '../../store/log.ts'
import { addCorsHeaders } from '../http/cors.ts'
import { addRead, refuse } from '../logger/read-answers.ts'
import type { EventSink, Subscription } from './event-client.ts'
import { EventHub } from './event-hub.ts'
import type { EventMeter } from './event-meter.ts'
import { subscriptionIn } from './event-parameters.ts'

export interface EventsOptions {
  ingest: Pick<Ingest, 'onStored'>
  /** Calls the listener with each change of a device's state. */
  onState?: (listener: (deviceNumber: number, state: string) => void) => void
  devices: Pick<Devices, 'get' | 'byNumber'>
  clientsMax: number
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

export function registerEvents(app: FastifyInstance, options: EventsOptions): void {
  const { ingest, onState, devices, clientsMax, lifetimeMs, log } = options
  const hub = new EventHub({
    ...options,
    run: randomBytes(8).toString('hex'),
    nameOf: number => devices.byNumber(number)?.name,
    failed: error => log.error({ err: error }, 'events could not be told, clients disconnected'),
  })
  ingest.onStored(readings => hub.store(readings))
  onState?.((device, state) => hub.stateChanged(device, state))
  // Before the server waits for its requests: these would last.
  app.addHook('preClose', done => {
    hub.close()
    done()
  })

  async function open(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const subscription = subscriptionIn(request.query as object, devices)
    if (subscription === 'DEVICE_UNKNOWN') return refuse(reply, subscription)
    if (typeof subscription === 'string') return refuse(reply, 'PARAMETER_INVALID', subscription)
    if (hub.isClosed) return refuse(reply, 'CLOSING')
    if (hub.size >= clientsMax) return refuse(reply, 'TOO_MANY_STREAMS')
    reply.header('content-type', 'text/event-stream').header('cache-control', 'no-store')
    // A proxy that gathers a response before it passes it on would hold all of it.
    reply.header('x-accel-buffering', 'no').header('connection', 'close')
    if (request.method === 'HEAD') return reply.send('')
    reply.hijack()
    stream(request, reply, hub, subscription, lifetimeMs)
    return reply
  }

  addCorsHeaders(app)
  addRead(app, '/events', open)
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
