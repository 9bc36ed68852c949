/** A whole fleet that goes silent at once: the engine, PostgreSQL, the outbox and the delivery, with a fleet that is made. */

import { type Alerts, openAlerts } from '../alerts/alerts.ts'
import type { AlertDevice } from '../alerts/core/devices.ts'
import { NewRule } from '../alerts/core/rule.ts'
import { noFeed } from '../auth/nodes/change-feed.ts'
import { deliveryParts, webhookAt } from '../test/support/alert-delivery.ts'
import { startReceiver } from '../test/support/alert-receiver.ts'
import { nowhere, silentLog, startDatabases } from '../test/support/databases.ts'
import { type Hooks, sleep } from './measure.ts'

export interface SilentFleet {
  /** Seconds from the common due time to the last commit. */
  seconds: number
  /** Requests at the receiver, and the alerts that the first one counts. */
  notifications: number
  counted: number
}

const owner = { all: true, account: null } as const
const waits = { groupWaitMs: 5000, groupIntervalMs: 300_000, repeatMs: 14_400_000 }
const pollMs = 100

export async function silenceFleet(hooks: Hooks, count: number): Promise<SilentFleet> {
  const { store } = await startDatabases(hooks, nowhere)
  const pool = store.postgres
  const receiver = await startReceiver(hooks)
  const alerts = openFleet(pool, count)
  hooks.teardown(() => alerts.close())
  const channel = await alerts.channels.add(owner, webhookAt(`${receiver.origin}/`, 'receiver'), 'bench')
  if (!channel.ok) throw new Error(`there is no channel: ${channel.code}`)
  const condition = { kind: 'silent', after_seconds: 5 }
  const rule = NewRule.parse({ name: 'silent', selector: { all: true }, condition, channels: [channel.value.id] })
  const added = await alerts.rules.add(owner, rule, 'bench')
  if (!added.ok) throw new Error(`there is no rule: ${added.code}`)
  const firing = async () => {
    const text =
      "SELECT count(*)::int AS count, 1000 * extract(epoch FROM max(fired_at))::float8 AS ms FROM alerts WHERE state = 'firing'"
    const [row] = (await pool.query<{ count: number; ms: number }>(text)).rows
    return row ?? { count: 0, ms: 0 }
  }
  let found = await firing()
  while (found.count < count) {
    await sleep(pollMs)
    // The count takes PostgreSQL some time.
    if (alerts.meter.engine().backlog === 0) found = await firing()
  }
  const seconds = (Date.now() - found.ms) / 1000
  await sleep(waits.groupWaitMs + 5000)
  const [first] = receiver.received
  const counted = first === undefined ? 0 : JSON.parse(first.body).data.counts.firing
  return { seconds, notifications: receiver.received.length, counted }
}

function openFleet(pool: Parameters<typeof deliveryParts>[0], count: number): Alerts {
  const { options } = deliveryParts(pool)
  const devices = new Map<number, AlertDevice>()
  for (let number = 1; number <= count; number++) devices.set(number, deviceOf(number))
  const lastMs = Date.now()
  return openAlerts({
    pool,
    log: silentLog,
    nowMs: Date.now,
    timeZone: 'UTC',
    publicUrl: options.publicUrl,
    feed: noFeed,
    leads: () => true,
    requireLead: async () => undefined,
    noteSetAside: async () => undefined,
    devices: {
      all: () => devices.values(),
      byNumber: number => devices.get(number),
      onChange: () => undefined,
      mayRead: () => true,
      isAdministrator: owner => owner === null,
      seriesOf: () => undefined,
      qualityOf: () => undefined,
    },
    learnOwner: async () => '',
    live: {
      latest: () => undefined,
      silenceOf: () => ({
        lastMs,
        lateSeconds: 10,
        freshSeconds: 5,
        staleSeconds: 86_400,
        expectedMs: 1000,
        isOff: false,
      }),
      hourShareOf: () => Number.NaN,
    },
    onStored: () => undefined,
    isOut: () => false,
    isSettled: () => true,
    markTaken: () => () => true,
    async *readings() {},
    batteryDays: async () => new Map(),
    unusualShifts: async () => new Map(),
    facts: async () => [],
    unitOf: () => null,
    deliver: options,
    removeMails: async () => undefined,
    waits,
  })
}

function deviceOf(number: number): AlertDevice {
  const name = `logger ${number}`
  return { number, symbol: `logger-${number}`, name, tags: [], owner: null, log_switch: true, location_short: '' }
}
