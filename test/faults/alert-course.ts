/** Devices cross a threshold and return. The notifications of a receiver are checked at the end. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/processes.ts'
import { basic } from '../support/service.ts'
import { type CountingReceiver, faultsIn, startCountingReceiver } from './alert-receivers.ts'
import { type Change, copySource } from './copy-source.ts'
import { askPostgres } from './databases.ts'
import { eachCycle, type Harness, type Run, type TestBed } from './experiment.ts'
import type { Login } from './loads.ts'

export interface AlertCourse {
  receiver: CountingReceiver
  /** Sends one reading for each device without an acknowledgement since the last flip. `flip` retries the failed ones. */
  send(isUp: boolean): Promise<void>
  /** Sends until every device is beyond the threshold, or back. Resolves when the receiver has all notifications. */
  flip(isUp: boolean): Promise<void>
  isUp(): boolean
  end(): Promise<void>
}

const deviceCount = 3
/** An alert with more than six changes in an hour would count as flapping. */
const flipsMax = 3
const setCount = 6
const warm = 35
const cold = 20
const aboveThirty = { kind: 'above', metric: 'temperature', value: 30, hysteresis: 1 }
/** This exceeds the delays of groups and deliveries. */
const restMs = 5000

export async function startCourse(bed: TestBed): Promise<AlertCourse> {
  const { service, tally } = bed
  const receiver = await startCountingReceiver(bed.hooks)
  await restartWithTarget(bed, receiver.origin)
  const prefix = `alerted-${process.pid}-${Date.now()}-`
  const devices = await service.addDevices(Array.from({ length: setCount * deviceCount }, (_, at) => `${prefix}${at}`))
  const channel = await addChannel(bed, receiver.url, 'webhook', receiver.url)
  const selector = { devices: devices.map(({ name }) => name) }
  const rule = await addRule(bed, { name: prefix, selector, condition: aboveThirty, channels: [channel] })
  const acknowledged = new Set<Login>()
  let flips = 0
  let isUpNow = false
  let since = 0

  function devicesFor(isUp: boolean): Login[] {
    const from = Math.floor((isUp ? flips : flips - 1) / flipsMax) * deviceCount
    return devices.slice(from, from + deviceCount)
  }

  async function sendAll(isUp: boolean): Promise<void> {
    if (acknowledged.size === 0) since = receiver.received.length
    const waiting = devicesFor(isUp).filter(device => !acknowledged.has(device))
    for (const device of waiting) if (await send(bed, device, isUp ? warm : cold)) acknowledged.add(device)
  }

  async function flip(isUp: boolean): Promise<void> {
    const state = isUp ? 'firing' : 'resolved'
    await until('all are acknowledged', async () => {
      await sendAll(isUp)
      return acknowledged.size === deviceCount
    })
    await until(`the receiver knows that all are ${state}`, () => {
      const alerts = receiver.received.slice(since).flatMap(notification => notification.alerts)
      return devicesFor(isUp).every(({ name }) => alerts.some(alert => alert.device === name && alert.state === state))
    })
    acknowledged.clear()
    isUpNow = isUp
    if (isUp) flips++
  }

  async function end(): Promise<void> {
    if (!isUpNow) await flip(true)
    const wanted = flips * deviceCount
    await removeRule(bed, { rule, channels: [channel], wanted, sent: () => receiver.received.length }, () =>
      sendAll(true),
    )
    tally.problems.push(...faultsIn(receiver.received, wanted))
    tally.notes.push(`${wanted} alerts, ${receiver.received.length} notifications, ${receiver.repeats} sent again`)
  }

  return { receiver, send: sendAll, flip, isUp: () => isUpNow, end }
}

async function restartWithTarget({ service }: TestBed, origin: string): Promise<void> {
  service.environment = { ...service.environment, ALERT_TARGETS_ALLOWED: origin }
  await service.end('SIGTERM')
  await service.start()
}

async function addChannel({ service }: TestBed, name: string, kind: string, url: string): Promise<number> {
  return ((await service.ask('POST', '/api/alert-channels', { name, kind, settings: { url } })) as { id: number }).id
}

async function addRule({ service }: TestBed, rule: object): Promise<number> {
  return ((await service.ask('POST', '/api/alert-rules', rule)) as { id: number }).id
}

async function send({ service }: TestBed, device: Login, temperature: number): Promise<boolean> {
  const headers = { authorization: basic(device.name, device.password), 'content-type': 'application/json' }
  const body = JSON.stringify({ ...readingOf(temperature), device: device.name })
  try {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/log`, { method: 'PUT', headers, body })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

function readingOf(temperature: number) {
  return { temperature, humidity: 50, pressure: 1013, 'battery voltage': 3, 'battery percentage': 80 }
}

/** Removes a rule and its channels. Reports leftover rows and notifications that are sent afterwards. */
async function removeRule(
  bed: TestBed,
  { rule, channels, wanted, sent }: { rule: number; channels: readonly number[]; wanted: number; sent: () => number },
  sendAgain = async () => {},
): Promise<void> {
  const { service, tally } = bed
  await service.ask('DELETE', `/api/alert-rules/${rule}`)
  await until('nothing is owed', async () => {
    const { open, owed, waiting } = await standingOf(bed, rule)
    return open === 0 && owed === 0 && waiting === 0
  })
  const before = sent()
  for (const channel of channels) await service.ask('DELETE', `/api/alert-channels/${channel}`)
  await sendAgain()
  await sleep(restMs)
  if (sent() > before) tally.problems.push('alerts: undead, told after the removal of the rule')
  const { alerts, open, pairs, owed, waiting } = await standingOf(bed, rule)
  if (open + pairs + owed + waiting > 0)
    tally.problems.push(`alerts: undead, ${open} open, ${pairs} pairs, ${owed} owed, ${waiting} waiting`)
  if (alerts !== wanted) tally.problems.push(`alerts: ${alerts} in place of ${wanted}`)
}

async function standingOf({ databases }: TestBed, rule: number) {
  const [standing] = await askPostgres<Record<'alerts' | 'open' | 'pairs' | 'waiting' | 'owed', number>>(
    databases.postgresUrl,
    `SELECT (SELECT count(*)::int FROM alerts WHERE rule_id = $1) AS alerts,
       (SELECT count(*)::int FROM alerts WHERE rule_id = $1 AND state <> 'resolved') AS open,
       (SELECT count(*)::int FROM alert_pairs WHERE rule_id = $1) AS pairs,
       (SELECT count(*)::int FROM alert_notifications WHERE rule_id = $1 AND state = 'waiting') AS waiting,
       (SELECT count(*)::int FROM alert_group_alerts JOIN alert_groups ON id = group_id WHERE rule_id = $1) AS owed`,
    [rule],
  )
  return standing ?? { alerts: 0, open: 0, pairs: 0, waiting: 0, owed: 0 }
}

const quickAlerts: Change[] = [
  { file: 'alerts/core/bounds.ts', from: 'groupWaitMs: 30_000', to: 'groupWaitMs: 300' },
  { file: 'alerts/core/bounds.ts', from: 'groupIntervalMs: 300_000', to: 'groupIntervalMs: 1_000' },
  // A notification claimed by a killed process is sent again after this time.
  { file: 'alerts/delivery/claim-rows.ts', from: 'export const claimMs = 60_000', to: 'export const claimMs = 4_000' },
]

export function eachAlertCycle(
  work: (bed: TestBed, cycle: number) => Promise<void>,
  environmentOf: (cycle: number, harness: Harness) => Record<string, string> = () => ({}),
): Run<Harness> {
  return async (harness, tally, seed, cycles) => {
    const source = join(harness.folder, `quick-alerts-${tally.row}-${seed}`)
    copySource(harness.source, source, quickAlerts)
    const options = (cycle: number) => ({ devices: 5, perSecond: 20, environment: environmentOf(cycle, harness) })
    await eachCycle(options, work)({ ...harness, source }, tally, seed, cycles)
  }
}
