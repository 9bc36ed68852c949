/** `GET /api/events`: readings and states as server-sent events. */

import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { Metrics } from '../../../auth/metrics/metrics.ts'
import type { Ingest } from '../../../ingest/ingest.ts'
import type { EventMeter, EventSink, Subscription } from '../../../query/live/events/event-client.ts'
import { EventHub } from '../../../query/live/events/event-hub.ts'
import { ServiceEvent } from '../../../query/live/events/event-shape.ts'
import { type ChangedAlert, EventCursors } from '../../../query/live/events/event-text.ts'
import type { ProcessCount } from '../../../store/limits/token-buckets.ts'
import type { Log } from '../../../store/log.ts'
import { addCorsHeaders } from '../../http/response-headers.ts'
import type { OperationGroup } from '../../http/route-family.ts'
import type { LoggerErrorCode, ReadOperation } from '../../http/status-operations.ts'
import { createStreamSlots, type SlotRefusal } from '../../http/streamed-response.ts'
import type { ReadAccess } from '../read-access.ts'
import { refuse } from '../read-access.ts'
import { ofReaders, readOperation } from '../read-operation.ts'
import type { Fleet } from '../readers.ts'
import { EventHeaders, EventParameters, eventsSubject, subscriptionIn } from './subscription.ts'

export interface EventsOptions {
  ingest: Pick<Ingest, 'onStored' | 'shared'>
  /** Calls the listener with each change of a device's state. */
  onState?: (listener: (deviceNumber: number, state: string) => void) => void
  /** False while the fleet is not loaded and `onState` is not called. */
  areStatesSent?: () => boolean
  /** Calls the listener with each changed alert. */
  onAlert?: ((listener: (alert: ChangedAlert) => void) => void) | undefined
  /** Alerts that the sender of the request may see; undefined for none. */
  alertsOf?: ((request: FastifyRequest) => Promise<Subscription['alerts']>) | undefined
  devices: Pick<Devices, 'byNumber'>
  metrics: Pick<Metrics, 'metricOf'>
  clientsMax: number
  /** Limit for a network, and for a credential. */
  clientsOfOneMax: number
  /** Processes share the limits of a client. */
  processes?: ProcessCount
  windowMs: number
  windowBytes: number
  /** After this time, a client with a credential has to reconnect and authenticate. */
  lifetimeMs?: number | undefined
  nowMs: () => number
  meter: EventMeter
  log: Log
}

/** Delay before a browser reconnects. */
const retry = 'retry: 3000\n\n'
/** Interval of the in-memory checks of a stream's credential. */
const credentialEveryMs = 1000

const slotRefusals = {
  'of all': 'TOO_MANY_STREAMS',
  'of the network': 'TOO_MANY_STREAMS_OF_NETWORK',
  'of the credential': 'TOO_MANY_STREAMS_OF_CREDENTIAL',
} as const satisfies Record<SlotRefusal, LoggerErrorCode>

export function eventsGroup(access: ReadAccess, options: EventsOptions): OperationGroup<ReadOperation> {
  const { ingest, onState, onAlert, alertsOf, devices, metrics, nowMs, lifetimeMs, log } = options
  const { clientsMax, clientsOfOneMax, processes } = options
  const slots = createStreamSlots({ slotsMax: clientsMax, slotsOfOneMax: clientsOfOneMax, processes, nowMs })
  const hub = new EventHub({
    ...options,
    // Positions in a single process's journal are valid only for this run.
    cursors: new EventCursors(ingest.shared?.journalId ?? randomUUID()),
    nextPosition: ingest.shared?.nextPosition,
    nameOf: number => devices.byNumber(number)?.name,
    ownerOf: number => devices.byNumber(number)?.owner ?? undefined,
    metricOf: (number, series) => metrics.metricOf(number, series)?.name,
    failed: error => log.error({ err: error }, 'cannot send events, clients disconnected'),
  })
  ingest.onStored(
    readings => hub.store(readings),
    () => hub.missed(),
  )
  onState?.((device, state) => hub.stateChanged(device, state))
  onAlert?.(alert => hub.alertChanged(alert))

  async function open(fleet: Fleet, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const subscription = subscriptionIn(request.query as object, fleet, number => devices.byNumber(number))
    if (typeof subscription === 'string') return refuse(reply, 'PARAMETER_INVALID', subscription)
    const alerts = await alertsOf?.(request)
    if (hub.isClosed) return refuse(reply, 'CLOSING')
    const slot = slots.take(reply.raw, { address: request.ip, credential: access.credentialOf(request) })
    if (typeof slot === 'string') return refuse(reply, slotRefusals[slot])
    reply.header('content-type', 'text/event-stream').header('cache-control', 'no-store')
    // Disables buffering by proxies.
    reply.header('x-accel-buffering', 'no').header('connection', 'close')
    if (request.method === 'HEAD') return reply.send('')
    reply.hijack()
    const isAnonymous = access.isOpen && alerts === undefined
    const credential = isAnonymous ? undefined : { isGood: () => isGood(request), lifetimeMs }
    stream(request, reply, hub, { ...subscription, alerts }, credential)
    return reply
  }

  /** With open reads, a credential still decides about alerts. */
  async function isGood(request: FastifyRequest): Promise<boolean> {
    if (!access.isOpen) return await access.isAllowed(request)
    return (await alertsOf?.(request).catch(() => () => true)) !== undefined
  }

  const read = readOperation(access, {
    path: '/events',
    name: 'read_events',
    summary: 'Readings and changes of states as they come',
    description: 'Server-sent events. Alerts are sent to signed-in clients, for rules that they may see.',
    subject: eventsSubject,
    parameters: { query: EventParameters, header: EventHeaders },
    success: { status: 200, description: 'Events, until the connection ends', events: ServiceEvent },
    refusals: [
      'TOO_MANY_PARAMETERS',
      'DEVICE_UNKNOWN',
      ...ofReaders,
      'TOO_MANY_STREAMS_OF_NETWORK',
      'TOO_MANY_STREAMS_OF_CREDENTIAL',
      'DATABASE_AWAY',
      'TOO_MANY_STREAMS',
      'CLOSING',
    ],
    handle: open,
  })
  return {
    operations: [read],
    prepare(scope) {
      addCorsHeaders(scope)
      // Streams have to end before the server waits for its requests.
      scope.addHook('preClose', done => {
        hub.close()
        done()
      })
    },
  }
}

interface StreamCredential {
  isGood: () => Promise<boolean>
  lifetimeMs: number | undefined
}

/** The end of the connection ends the body: without chunks all clients get the same bytes. */
function stream(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  hub: EventHub,
  subscription: Subscription,
  credential: StreamCredential | undefined,
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
  const lifetimeMs = credential?.lifetimeMs
  const timer = lifetimeMs === undefined ? undefined : setTimeout(leave, lifetimeMs).unref()
  const look = credential && (async () => (await credential.isGood()) || leave())
  const looks = look && setInterval(() => void look(), credentialEveryMs).unref()
  response.on('error', leave)
  response.once('close', () => {
    clearTimeout(timer)
    clearInterval(looks)
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
