/** Devices that go beyond a threshold and back, what a receiver is told of it, and the judgement at the end. */

import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/processes.ts'
import { faultsIn } from './alert-judgement.ts'
import { type AlertedDevice, addAlerts, ask, send, standingOf } from './alert-rules.ts'
import type { TestBed } from './experiment.ts'
import { type CountingReceiver, startCountingReceiver } from './receiver.ts'

export interface AlertCourse {
  receiver: CountingReceiver
  /** Once by each device that has not been acknowledged since the last flip; what is not acknowledged is left to `flip`. */
  send(isUp: boolean): Promise<void>
  /** All devices beyond the threshold, or back; resolves when the receiver knows. */
  flip(isUp: boolean): Promise<void>
  /** Whether they are beyond it, as the receiver was told. */
  isUp(): boolean
  /** Judges, with the removal of the rule and of the channel. */
  end(): Promise<void>
}

const deviceCount = 3
/** More than six changes in an hour would be one alert that flaps. */
const flipsMax = 3
const setCount = 6
const warm = 35
const cold = 20
/** Longer than groups and deliveries wait. */
const restMs = 5000

export async function startCourse(bed: TestBed): Promise<AlertCourse> {
  const { service, tally } = bed
  const receiver = await startCountingReceiver(bed.hooks)
  service.environment = { ...service.environment, ALERT_TARGETS_ALLOWED: receiver.origin }
  await service.end('SIGTERM')
  await service.start()
  const alerts = await addAlerts(bed, receiver, { count: setCount * deviceCount })
  const acknowledged = new Set<AlertedDevice>()
  let flips = 0
  let isUpNow = false
  let since = 0

  /** Those that go up next, or went up last. */
  function devicesFor(isUp: boolean): AlertedDevice[] {
    const from = Math.floor((isUp ? flips : flips - 1) / flipsMax) * deviceCount
    return alerts.devices.slice(from, from + deviceCount)
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
    await until(`all are told that they are ${state}`, () => {
      const told = receiver.received.slice(since).flatMap(notification => notification.alerts)
      return devicesFor(isUp).every(({ name }) => told.some(alert => alert.device === name && alert.state === state))
    })
    acknowledged.clear()
    isUpNow = isUp
    if (isUp) flips++
  }

  async function end(): Promise<void> {
    if (!isUpNow) await flip(true)
    await ask(bed, 'DELETE', `/api/alert-rules/${alerts.rule}`)
    await until('the end is told', async () => {
      const { open, owed, waiting } = await standingOf(bed, alerts)
      return open === 0 && owed === 0 && waiting === 0
    })
    const told = receiver.received.length
    await ask(bed, 'DELETE', `/api/alert-channels/${alerts.channel}`)
    await sendAll(true)
    await sleep(restMs)
    if (receiver.received.length > told) tally.problems.push('alerts: undead, told after the removal of the rule')
    const { alerts: stored, open, pairs, owed, waiting } = await standingOf(bed, alerts)
    if (open + pairs + owed + waiting > 0)
      tally.problems.push(`alerts: undead, ${open} open, ${pairs} pairs, ${owed} owed, ${waiting} waiting`)
    const wanted = flips * deviceCount
    if (stored !== wanted) tally.problems.push(`alerts: ${stored} in place of ${wanted}`)
    tally.problems.push(...faultsIn(receiver.received, wanted))
    tally.notes.push(`${wanted} alerts, ${receiver.received.length} notifications, ${receiver.repeats()} sent again`)
  }

  return { receiver, send: sendAll, flip, isUp: () => isUpNow, end }
}
