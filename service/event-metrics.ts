/** Metrics of `GET /api/events`: connected clients, events sent, clients disconnected. */

import type { Registry } from 'prom-client'
import type { EventMeter } from '../query/live/events/event-meter.ts'
import { counter, gauge } from '../store/metric-kinds.ts'

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
