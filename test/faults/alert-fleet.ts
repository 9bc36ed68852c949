/** Many devices with one rule, of which an Alertmanager is told each alert, and a webhook that there are some. */

import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/processes.ts'
import { ask, standingOf } from './alert-rules.ts'
import { type AlertmanagerReceiver, faultsOf, startAlertmanagerReceiver } from './alertmanager-receiver.ts'
import type { TestBed } from './experiment.ts'
import { type CountingReceiver, startCountingReceiver } from './receiver.ts'

export interface AlertFleet {
  alertmanager: AlertmanagerReceiver
  webhook: CountingReceiver
  /** Of the webhook. */
  webhookChannel: number
  /** A reading of each that has not been acknowledged since the last call of `told`; whether all are acknowledged now. */
  send(temperature: number): Promise<boolean>
  /** Sends until all are acknowledged, and waits until each alert is told as begun, or as over. */
  told(temperature: number, state: 'firing' | 'resolved'): Promise<void>
  /** Judges, with the removal of the rule and of the channels. */
  end(): Promise<void>
}

/** Of a body. */
const devicesMax = 10_000
/** Silence counts from so long, and some more, after a start of the service. */
const expectedSeconds = 10
/** Longer than groups and deliveries wait. */
const restMs = 5000

export async function startFleet(
  bed: TestBed,
  { count, condition }: { count: number; condition: object },
): Promise<AlertFleet> {
  const { service, tally } = bed
  const alertmanager = await startAlertmanagerReceiver(bed.hooks)
  const webhook = await startCountingReceiver(bed.hooks)
  const targets = `${alertmanager.origin},${webhook.origin}`
  service.environment = { ...service.environment, ALERT_TARGETS_ALLOWED: targets }
  await service.end('SIGTERM')
  await service.start()
  const fleet = `f${process.pid}-${Date.now().toString(36)}`
  const names = Array.from({ length: count }, (_, index) => `${fleet}-${index}`)
  for (const some of inBodies(names)) {
    const devices = some.map(name => ({ name, tags: [`fleet:${fleet}`], expected_interval_seconds: expectedSeconds }))
    const { status } = await service.admin('POST', '/devices', devices)
    if (status !== 201) throw new Error(`devices are answered ${status}`)
  }
  const channels = [
    await addChannel(bed, `${fleet} all`, 'alertmanager', alertmanager.origin),
    await addChannel(bed, `${fleet} some`, 'webhook', webhook.url),
  ] as const
  const rule = (await ask(bed, 'POST', '/api/alert-rules', {
    ...{ name: fleet, selector: { tags: [`fleet:${fleet}`] }, condition, channels },
  })) as { id: number }
  const acknowledged = new Set<string>()

  async function send(temperature: number): Promise<boolean> {
    for (const some of inBodies(names.filter(name => !acknowledged.has(name)))) {
      if (await importNow(bed, some, temperature)) for (const name of some) acknowledged.add(name)
    }
    return acknowledged.size === count
  }

  const isTold = (name: string, state: 'firing' | 'resolved') =>
    (alertmanager.told.get(name)?.[state === 'firing' ? 'starts' : 'ends'].size ?? 0) > 0

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
      await ask(bed, 'DELETE', `/api/alert-rules/${rule.id}`)
      const under = { rule: rule.id, channel: channels[0], devices: [] }
      await until('nothing is owed', async () => {
        const { owed, waiting } = await standingOf(bed, under)
        return owed === 0 && waiting === 0
      })
      for (const channel of channels) await ask(bed, 'DELETE', `/api/alert-channels/${channel}`)
      const before = alertmanager.requests()
      await sleep(restMs)
      if (alertmanager.requests() > before) tally.problems.push('alerts: undead, told after the removal of the rule')
      const { alerts, open } = await standingOf(bed, under)
      if (alerts !== count || open > 0) tally.problems.push(`alerts: ${alerts} in place of ${count}, ${open} open`)
      tally.problems.push(...faultsOf(alertmanager.told, names))
      const requests = `${alertmanager.requests()} requests at the Alertmanager`
      tally.notes.push(`${count} alerts, ${requests}, ${webhook.received.length} notifications at the webhook`)
    },
  }
}

function inBodies(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / devicesMax) }, (_, at) =>
    names.slice(at * devicesMax, (at + 1) * devicesMax),
  )
}

async function addChannel(bed: TestBed, name: string, kind: string, url: string): Promise<number> {
  const body = { name, kind, settings: { url } }
  return ((await ask(bed, 'POST', '/api/alert-channels', body)) as { id: number }).id
}

/** Whether all were acknowledged, with the time of now. */
async function importNow({ service }: TestBed, names: readonly string[], temperature: number): Promise<boolean> {
  const timestamp = Date.now()
  const values = { temperature, humidity: 50, pressure: 1013, 'battery voltage': 3, 'battery percentage': 80 }
  const lines = names.map(device => JSON.stringify({ device, ...values, timestamp }))
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
