/** Adds metrics of alerts: firing alerts, and the progress of their evaluation. */

import { Counter, Gauge, type Registry } from 'prom-client'
import type { Alerts } from '../alerts/alerts.ts'
import { counter, gauge } from '../store/metric-kinds.ts'

export function addAlertMetrics(registry: Registry, { alerts, meter }: Pick<Alerts, 'alerts' | 'meter'>): void {
  new Gauge({
    name: 'barograph_alerts',
    help: 'Alerts that are pending or fire, by state and severity.',
    labelNames: ['state', 'severity'],
    registers: [registry],
    async collect() {
      this.reset()
      // Unknown without PostgreSQL.
      const counts = await alerts.counts().catch(() => [])
      for (const { state, severity, count } of counts) this.set({ state, severity }, count)
    },
  })
  addDeliveryMetrics(registry, meter.delivery)
  const { engine } = meter
  gauge(
    registry,
    'barograph_alert_pairs',
    'Pairs of a rule and a device that are evaluated here.',
    () => engine().pairs,
  )
  gauge(registry, 'barograph_alert_backlog', 'Changes of alerts that are not committed yet.', () => engine().backlog)
  counter(
    registry,
    'barograph_alert_readings_deferred_total',
    'Readings beyond the queue of the evaluation, which are evaluated from QuestDB.',
    () => engine().dropped,
  )
  counter(
    registry,
    'barograph_alert_transitions_merged_total',
    'Alerts that ended before they were written.',
    () => engine().merged,
  )
  counter(
    registry,
    'barograph_alert_transitions_refused_total',
    'Changes of alerts that PostgreSQL refused for their content; they are left out.',
    () => engine().refused,
  )
  counter(
    registry,
    'barograph_alert_notifications_given_up_total',
    'Notifications dropped because too many were pending.',
    meter.givenUp,
  )
}

/** Counts delivered and pending notifications. */
function addDeliveryMetrics(registry: Registry, delivery: Alerts['meter']['delivery']): void {
  new Counter({
    name: 'barograph_alert_attempts_total',
    help: 'Attempts to deliver notifications, by kind of channel and outcome; given_up: the last attempt failed.',
    labelNames: ['kind', 'result'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { kind, result, count } of delivery.results()) this.inc({ kind, result }, count)
    },
  })
  new Gauge({
    name: 'barograph_alert_undelivered_oldest_seconds',
    help: 'Age of the oldest notification that is not delivered; 0 without one.',
    registers: [registry],
    async collect() {
      this.reset()
      // Unknown without PostgreSQL.
      const seconds = await delivery.oldestSeconds().catch(() => undefined)
      if (seconds !== undefined) this.set(seconds)
    },
  })
}
