/**
 * Rows 29e to 29g: alerts at length. PostgreSQL is away while a fleet goes silent, tens of thousands of alerts begin and end at once while
 * the service dies, and a receiver fails for an hour, or is gone. Counted is the same as in the other rows of alerts, by device.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import {
  aboveThirty,
  addChannel,
  addRule,
  cold,
  eachAlertCycle,
  readingOf,
  removeRule,
  restartWithTargets,
  warm,
} from '../alert-course.ts'
import {
  type AlertmanagerReceiver,
  type CountingReceiver,
  faultsOf,
  startAlertmanagerReceiver,
  startCountingReceiver,
} from '../alert-receivers.ts'
import type { Change } from '../copy-source.ts'
import { startPostgresLink } from '../databases.ts'
import type { TestBed } from '../experiment.ts'
import { type AlertPoint, injecting } from '../injection/settings.ts'

const silentCount = 500
const silentSeconds = 60
const awayMs = 600_000

export const silentWithoutPostgres = eachAlertCycle(async bed => {
  const { link, url } = await startPostgresLink(bed.hooks, bed.databases)
  bed.service.environment['DATABASE_URL'] = url
  // It starts the service again.
  const fleet = await startFleet(bed, silentCount, { kind: 'silent', after_seconds: silentSeconds })
  await until('all are acknowledged', () => fleet.send(cold))
  link.trouble.refuses = true
  link.cut()
  await sleep(awayMs)
  link.calm()
  // They have sent what they are silent since.
  await fleet.told(cold, 'firing')
  await fleet.told(cold, 'resolved')
  await fleet.end()
})

const manyCount = 50_000
/** Where it dies, and at which pass: each comes when what is before it is half done. */
const deathsOfMany: readonly (readonly [point: AlertPoint, pass: number])[] = [
  ['alerts-found', 1],
  ['alerts-written', 2],
  ['alerts-applied', 3],
  ['notifications-made', 1],
  ['notification-claimed', 5],
  ['notification-sent', 10],
  ['notification-noted', 20],
]
/** When alerts end, nothing is asked of their groups. */
const deathsOfEnds = deathsOfMany.filter(([point]) => point !== 'alerts-written')

export const manyAtOnce = eachAlertCycle(async bed => {
  const fleet = await startFleet(bed, manyCount, aboveThirty)
  for (const [point, pass] of deathsOfMany) await sendAndDie(bed, fleet, warm, point, pass)
  await bed.service.start()
  await fleet.told(warm, 'firing')
  for (const [point, pass] of deathsOfEnds) await sendAndDie(bed, fleet, cold, point, pass)
  await bed.service.start()
  await fleet.told(cold, 'resolved')
  await fleet.end()
})

/** It stays dead: what a start in between delivered would not be there for the next death. */
async function sendAndDie(
  bed: TestBed,
  fleet: AlertFleet,
  temperature: number,
  point: AlertPoint,
  pass: number,
): Promise<void> {
  const { service } = bed
  await service.end('SIGTERM')
  await service.start(injecting({ FAIL_POINT: `${point}:${pass}` }))
  await fleet.send(temperature)
  await service.ended(`a death at pass ${pass} of ${point}`)
  bed.noteCrash()
}

/** An attempt follows another one after seconds instead of minutes, and an hour lasts a minute. */
const hourInAMinute: Change[] = [
  { file: 'alerts/delivery/retries.ts', from: 'const minuteMs = 60 * secondMs', to: 'const minuteMs = secondMs' },
]
const scaledHourMs = 60_000
const failingCount = 100
const goneMs = 10_000

export const failingReceivers = eachAlertCycle(
  async bed => {
    await failForAnHour(bed)
    await isGone(bed)
  },
  undefined,
  hourInAMinute,
)

/** The Alertmanager is told all when it has answered with errors for an hour; the webhook is not held up meanwhile. */
async function failForAnHour(bed: TestBed): Promise<void> {
  const fleet = await startFleet(bed, failingCount, aboveThirty)
  const { alertmanager, webhook } = fleet
  alertmanager.fails = true
  await until('all are acknowledged', () => fleet.send(warm))
  await until('the webhook is told', () => webhook.received.length > 0)
  await sleep(scaledHourMs)
  if (alertmanager.alerts.size > 0) bed.tally.problems.push('alerts: told by an answer of failure')
  alertmanager.fails = false
  await fleet.told(warm, 'firing')
  await fleet.told(cold, 'resolved')
  await fleet.end()
}

/** A webhook that is gone gets no more requests, and says so; the Alertmanager is told all. */
async function isGone(bed: TestBed): Promise<void> {
  const { service, tally } = bed
  const fleet = await startFleet(bed, failingCount, aboveThirty)
  const { webhook } = fleet
  let requests = 0
  webhook.answer = response => {
    requests++
    response.writeHead(410).end()
  }
  await fleet.told(warm, 'firing')
  await until('the webhook was asked', () => requests > 0)
  await fleet.told(cold, 'resolved')
  await sleep(goneMs)
  const channel = (await service.ask('GET', `/api/alert-channels/${fleet.webhookChannel}`)) as Record<string, unknown>
  if (requests !== 1) tally.problems.push(`alerts: ${requests} requests at a webhook that is gone`)
  if (channel['enabled'] !== false || channel['disabled_reason'] !== 'gone') {
    tally.problems.push(`alerts: a webhook that is gone is ${JSON.stringify(channel)}`)
  }
  await fleet.end()
}

interface AlertFleet {
  alertmanager: AlertmanagerReceiver
  webhook: CountingReceiver
  webhookChannel: number
  /** A reading of each that has not been acknowledged since the last call of `told`; whether all are acknowledged now. */
  send(temperature: number): Promise<boolean>
  /** Sends until all are acknowledged, and waits until each alert is told as begun, or as over. */
  told(temperature: number, state: 'firing' | 'resolved'): Promise<void>
  end(): Promise<void>
}

const devicesMax = 10_000
/** Silence counts from so long, and some more, after a start of the service. */
const expectedSeconds = 10

async function startFleet(bed: TestBed, count: number, condition: object): Promise<AlertFleet> {
  const { service, tally } = bed
  const alertmanager = await startAlertmanagerReceiver(bed.hooks)
  const webhook = await startCountingReceiver(bed.hooks)
  await restartWithTargets(bed, alertmanager.origin, webhook.origin)
  const fleet = `f${process.pid}-${Date.now().toString(36)}`
  const tags = [`fleet:${fleet}`]
  const names = Array.from({ length: count }, (_, index) => `${fleet}-${index}`)
  for (const some of inBodies(names)) {
    await service.addDevices(some, { tags, expected_interval_seconds: expectedSeconds })
  }
  const channels = [
    await addChannel(bed, `${fleet} all`, 'alertmanager', alertmanager.origin),
    await addChannel(bed, `${fleet} some`, 'webhook', webhook.url),
  ] as const
  const rule = await addRule(bed, { name: fleet, selector: { tags }, condition, channels })
  const acknowledged = new Set<string>()

  async function send(temperature: number): Promise<boolean> {
    for (const some of inBodies(names.filter(name => !acknowledged.has(name)))) {
      if (await importNow(bed, some, temperature)) for (const name of some) acknowledged.add(name)
    }
    return acknowledged.size === count
  }

  const isTold = (name: string, state: 'firing' | 'resolved') =>
    (alertmanager.alerts.get(name)?.[state === 'firing' ? 'starts' : 'ends'].size ?? 0) > 0

  return {
    alertmanager,
    webhook,
    webhookChannel: channels[1],
    send,
    async told(temperature, state) {
      await until('all are acknowledged', () => send(temperature))
      await until(`all are told as ${state}`, () => names.every(name => isTold(name, state)))
      acknowledged.clear()
    },
    async end() {
      const { requests } = alertmanager
      await removeRule(bed, { rule, channels, wanted: count, sent: requests })
      tally.problems.push(...faultsOf(alertmanager.alerts, names))
      const asked = `${requests()} requests at the Alertmanager`
      tally.notes.push(`${count} alerts, ${asked}, ${webhook.received.length} notifications at the webhook`)
    },
  }
}

function inBodies(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / devicesMax) }, (_, at) =>
    names.slice(at * devicesMax, (at + 1) * devicesMax),
  )
}

async function importNow({ service }: TestBed, names: readonly string[], temperature: number): Promise<boolean> {
  const timestamp = Date.now()
  const lines = names.map(device => JSON.stringify({ ...readingOf(temperature), device, timestamp }))
  const headers = { authorization: `Bearer ${service.adminToken()}`, 'content-type': 'application/x-ndjson' }
  try {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/admin/import`, {
      ...{ method: 'POST', headers, body: lines.join('\n') },
    })
    const { accepted } = (await response.json()) as { accepted?: number }
    return response.ok && accepted === names.length
  } catch {
    return false
  }
}
