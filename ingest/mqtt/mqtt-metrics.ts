/** Metrics of MQTT: clients of the listener, why their connections ended, and whether the outside broker is connected. */

import { Counter, type Registry } from 'prom-client'
import { gauge } from '../../store/metric-kinds.ts'
import { type CloseReason, closeReasons } from './close-reasons.ts'

export interface MqttMetricsOptions {
  connections: () => number
  /** Undefined without an outside broker. */
  isBrokerConnected: (() => boolean) | undefined
}

/** What is returned counts a connection that has ended. */
export function addMqttMetrics(registry: Registry, options: MqttMetricsOptions): (reason: CloseReason) => void {
  const { connections, isBrokerConnected } = options
  gauge(registry, 'barograph_mqtt_connections', 'Clients of the MQTT listener.', connections)
  if (isBrokerConnected !== undefined) {
    gauge(registry, 'barograph_mqtt_broker_connected', '1 while readings come from the outside MQTT broker.', () => {
      return isBrokerConnected() ? 1 : 0
    })
  }
  const closed = new Counter({
    name: 'barograph_mqtt_connections_closed_total',
    help: 'Connections of the MQTT listener that have ended, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of Object.keys(closeReasons)) closed.inc({ reason }, 0)
  return reason => closed.inc({ reason })
}
