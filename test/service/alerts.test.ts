/** Alerts of the whole service: from a reading to a row of the API, over kills. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { heldText } from '../support/held-answers.ts'
import { type Service, startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

interface ShownAlert {
  device: string
  state: string
  rule: string
  value: number | null
  resolved_reason: string | null
}

async function ask<Answer>(service: Service, method: string, path: string, body?: unknown): Promise<Answer> {
  const token = readFileSync(join(service.dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${service.url}/api${path}`, init)
  const text = await heldText(method, response)
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

async function alertsOf(service: Service): Promise<string[]> {
  const { alerts } = await ask<{ alerts: ShownAlert[] }>(service, 'GET', '/alerts')
  return alerts.map(({ rule, device, state, resolved_reason: reason }) =>
    `${rule}: ${device} ${state} ${reason ?? ''}`.trim(),
  )
}

test('an alert fires by a reading and ends by one, whatever is killed in between', async t => {
  let service = await startService(t)
  const { dataDirectory } = service
  const becomes = async (what: string, rows: string[]) => {
    await waitFor(`${what}: ${rows.join()}`, async () => (await alertsOf(service)).join() === rows.join())
    t.strictSame(await alertsOf(service), rows, what)
  }
  const password = await service.addDevice('freezer')
  const put = async (temperature: number) => {
    const response = await service.put('freezer', password, {
      device: 'freezer',
      temperature,
      humidity: 50,
      pressure: 1000,
    })
    t.equal(response.status, 200)
  }
  const condition = { kind: 'above', metric: 'temperature', value: -15, hysteresis: 1 }
  const rule = { name: 'door', selector: { devices: ['freezer'] }, condition, severity: 'critical' }
  const { id } = await ask<{ id: number }>(service, 'POST', '/alert-rules', rule)
  await waitFor('rules are evaluated', () => service.output().includes('alerts are evaluated'))
  await put(-18)
  await put(-10)
  await becomes('a reading beyond the threshold', ['door: freezer firing'])

  // What was acknowledged may be evaluated by the next process alone.
  await put(-20)
  await service.killAll()
  service = await startService(t, { dataDirectory })
  await becomes('killed behind the acknowledgement', ['door: freezer resolved cleared'])

  await waitFor('rules are evaluated again', () => service.output().includes('alerts are evaluated'))
  await put(-9)
  await becomes('it fires again', ['door: freezer firing', 'door: freezer resolved cleared'])
  t.equal(await service.end('SIGTERM'), 0)
  service = await startService(t, { dataDirectory })
  await becomes('it goes on firing', ['door: freezer firing', 'door: freezer resolved cleared'])
  await ask(service, 'DELETE', `/alert-rules/${id}`)
  await becomes('its rule is removed', ['door: freezer resolved rule_removed', 'door: freezer resolved cleared'])
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  t.match(metrics, /^barograph_alert_pairs \d+$/m)
})
