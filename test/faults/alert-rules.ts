/** Rules, a channel and devices of their own for a row about alerts, by the API of the service. */

import pg from 'pg'
import type { TestBed } from './experiment.ts'
import type { CountingReceiver } from './receiver.ts'
import { basic } from './requests.ts'

export interface AlertedDevice {
  name: string
  password: string
}

export interface AlertsUnderTest {
  channel: number
  rule: number
  devices: AlertedDevice[]
}

/** A rule on devices that have just been made: above 30 °C, or what the fields say. */
export async function addAlerts(
  bed: TestBed,
  receiver: CountingReceiver,
  { count, rule: fields = {} }: { count: number; rule?: object },
): Promise<AlertsUnderTest> {
  const wanted = Array.from({ length: count }, (_, index) => ({
    name: `alerted-${process.pid}-${Date.now()}-${index}`,
  }))
  const made = (await ask(bed, 'POST', '/api/admin/devices', wanted)) as { device: string; password: string }[]
  const devices = made.map(({ device, password }) => ({ name: device, password }))
  const settings = { url: receiver.url }
  const channel = (await ask(bed, 'POST', '/api/alert-channels', {
    name: receiver.url,
    kind: 'webhook',
    settings,
  })) as { id: number }
  const rule = (await ask(bed, 'POST', '/api/alert-rules', {
    name: `rule ${devices[0]?.name}`,
    selector: { devices: devices.map(({ name }) => name) },
    condition: { kind: 'above', metric: 'temperature', value: 30, hysteresis: 1 },
    channels: [channel.id],
    ...fields,
  })) as { id: number }
  return { channel: channel.id, rule: rule.id, devices }
}

/** Throws for an answer that is none of success. */
export async function ask(
  { service }: Pick<TestBed, 'service'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${service.adminToken()}`, 'content-type': 'application/json' }
  const init =
    body === undefined
      ? { method, headers: { authorization: headers.authorization } }
      : { method, headers, body: JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} is answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Whether the reading was acknowledged. */
export async function send({ service }: TestBed, device: AlertedDevice, temperature: number): Promise<boolean> {
  const headers = { authorization: basic(device.name, device.password), 'content-type': 'application/json' }
  const body = JSON.stringify({
    ...{ device: device.name, temperature, humidity: 50, pressure: 1013 },
    ...{ 'battery voltage': 3, 'battery percentage': 80 },
  })
  try {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/log`, { method: 'PUT', headers, body })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

/** What stands in PostgreSQL of a rule. */
export async function standingOf({ databases }: TestBed, { rule }: AlertsUnderTest) {
  const client = new pg.Client({ connectionString: databases.postgresUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ alerts: number; open: number; pairs: number; waiting: number; owed: number }>(
      `SELECT (SELECT count(*)::int FROM alerts WHERE rule_id = $1) AS alerts,
         (SELECT count(*)::int FROM alerts WHERE rule_id = $1 AND state <> 'resolved') AS open,
         (SELECT count(*)::int FROM alert_pairs WHERE rule_id = $1) AS pairs,
         (SELECT count(*)::int FROM alert_notifications WHERE rule_id = $1 AND state = 'waiting') AS waiting,
         (SELECT count(*)::int FROM alert_group_alerts JOIN alert_groups ON id = group_id WHERE rule_id = $1) AS owed`,
      [rule],
    )
    return rows[0] ?? { alerts: 0, open: 0, pairs: 0, waiting: 0, owed: 0 }
  } finally {
    await client.end()
  }
}
