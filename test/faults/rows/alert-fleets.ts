/**
 * Rows 29e to 29g: alerts at length. PostgreSQL is away while a fleet goes silent, tens of thousands of alerts begin and end at once while
 * the service dies, and a receiver fails for an hour, or is gone. Counted is the same as in the other rows of alerts, by device.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import { type AlertFleet, startFleet } from '../alert-fleet.ts'
import { ask } from '../alert-rules.ts'
import type { Change } from '../copy-source.ts'
import type { Harness, TestBed } from '../experiment.ts'
import { createHooks } from '../hooks.ts'
import { type AlertPoint, injecting } from '../injection/settings.ts'
import { startPostgresLink } from '../postgres-link.ts'
import { withQuickAlerts } from '../quick-alerts.ts'
import type { Tally } from '../tally.ts'

const warm = 35
const cold = 20
const above = { kind: 'above', metric: 'temperature', value: 30, hysteresis: 1 }

const silentCount = 500
const silentSeconds = 60
const awayMs = 600_000

export async function silentWithoutPostgres(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  awayForMs = awayMs,
): Promise<void> {
  const hooks = createHooks()
  try {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const { link, url } = await startPostgresLink(hooks, harness.databases)
      const environment = { DATABASE_URL: url }
      await withQuickAlerts(harness, { seed: seed + cycle, tally, environment }, async bed => {
        const condition = { kind: 'silent', after_seconds: silentSeconds }
        const fleet = await startFleet(bed, { count: silentCount, condition })
        await until('all are acknowledged', () => fleet.send(cold))
        link.trouble.refuses = true
        link.cut()
        await sleep(awayForMs)
        link.calm()
        // They have sent what they are silent since.
        await fleet.told(cold, 'firing')
        await fleet.told(cold, 'resolved')
        await fleet.end()
      })
    }
  } finally {
    await hooks.undo()
  }
}

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

export async function manyAtOnce(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  count = manyCount,
): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await withQuickAlerts(harness, { seed: seed + cycle, tally }, async bed => {
      const fleet = await startFleet(bed, { count, condition: above })
      for (const [point, pass] of deathsOfMany) await sendAndDie(bed, fleet, warm, point, pass)
      await bed.service.start()
      await fleet.told(warm, 'firing')
      for (const [point, pass] of deathsOfEnds) await sendAndDie(bed, fleet, cold, point, pass)
      await bed.service.start()
      await fleet.told(cold, 'resolved')
      await fleet.end()
    })
  }
}

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

export async function failingReceivers(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await withQuickAlerts(
      harness,
      { seed: seed + cycle, tally },
      async bed => {
        await failForAnHour(bed)
        await isGone(bed)
      },
      hourInAMinute,
    )
  }
}

/** The Alertmanager is told all when it has answered with errors for an hour; the webhook is not held up meanwhile. */
async function failForAnHour(bed: TestBed): Promise<void> {
  const fleet = await startFleet(bed, { count: failingCount, condition: above })
  const { alertmanager, webhook } = fleet
  alertmanager.fails = true
  await until('all are acknowledged', () => fleet.send(warm))
  await until('the webhook is told', () => webhook.received.length > 0)
  await sleep(scaledHourMs)
  if (alertmanager.told.size > 0) bed.tally.problems.push('alerts: told by an answer of failure')
  alertmanager.fails = false
  await fleet.told(warm, 'firing')
  await fleet.told(cold, 'resolved')
  await fleet.end()
}

/** A webhook that is gone gets no more requests, and says so; the Alertmanager is told all. */
async function isGone(bed: TestBed): Promise<void> {
  const { tally } = bed
  const fleet = await startFleet(bed, { count: failingCount, condition: above })
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
  const channel = (await ask(bed, 'GET', `/api/alert-channels/${fleet.webhookChannel}`)) as Record<string, unknown>
  if (requests !== 1) tally.problems.push(`alerts: ${requests} requests at a webhook that is gone`)
  if (channel['enabled'] !== false || channel['disabled_reason'] !== 'gone') {
    tally.problems.push(`alerts: a webhook that is gone is ${JSON.stringify(channel)}`)
  }
  await fleet.end()
}
