/** Creates the meters of readings and events, and keeps rejections. */

import type { Registry } from 'prom-client'
import { type BulkMeter, createBulkMeter } from '../api/write/bulk-meter.ts'
import {
  createIntervalMeter,
  createReadingMeter,
  type IntervalMeter,
  type ReadingMeter,
} from '../ingest/intake/reading-meter.ts'
import { createRejections, createSenderLog, type Rejections, type SenderLog } from '../ingest/rejections/rejections.ts'
import type { EventMeter } from '../query/live/events/event-client.ts'
import type { Log } from '../store/log.ts'
import { counter, gauge } from '../store/metric-kinds.ts'
import type { Clock } from './clock.ts'

export interface Meters {
  meter: ReadingMeter
  bulkMeter: BulkMeter
  eventMeter: EventMeter
  interval: IntervalMeter
  rejections: Rejections
  senderLog: SenderLog
}

export function createMeters(registry: Registry, log: Log, nowMs: Clock): Meters {
  const interval = createIntervalMeter()
  const senderLog = createSenderLog(log, () => performance.now())
  const rejections = createRejections({ nowMs, senderLog })
  return {
    meter: createReadingMeter(registry, interval, rejections),
    bulkMeter: createBulkMeter(registry, interval, rejections),
    eventMeter: createEventMeter(registry),
    interval,
    rejections,
    senderLog,
  }
}

/** Metrics of `GET /api/events`: connected clients, events sent, clients disconnected. */
export function createEventMeter(registry: Registry): EventMeter {
  let [clients, sent, dropped] = [0, 0, 0]
  gauge(registry, 'barograph_event_clients', 'Clients of GET /api/events that are connected.', () => clients)
  counter(registry, 'barograph_events_sent_total', 'Events sent, once for each client that got one.', () => sent)
  const cut = 'Clients of GET /api/events that were disconnected because they took nothing.'
  counter(registry, 'barograph_event_clients_dropped_total', cut, () => dropped)
  return {
    clients(count) {
      clients = count
    },
    sent(events) {
      sent += events
    },
    dropped() {
      dropped++
    },
  }
}
