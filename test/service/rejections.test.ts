/** What is not taken by any way in, as administrators see it: on the whole service, a row for each case. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync, type MqttClient } from 'mqtt'
import tap from 'tap'
import type { RejectionPage } from '../../api/admin/rejection-answers.ts'
import { freePort } from '../../store/process/free-port.ts'
import { reading } from '../support/mqtt.ts'
import { until } from '../support/processes.ts'
import { basic, startService, withoutQuestdb } from '../support/service.ts'

const mqttPort = await freePort()
const settings = { LINE_PROTOCOL_PRESET: 'home-assistant' }
const service = await startService(tap, {
  environment: { ...withoutQuestdb, ...settings, MQTT_PORT: String(mqttPort) },
})
const { url } = service
const password = await service.addDevice('porch')
const email = 'ada@example.com'
const role = 'administrator'
const { body: account } = await service.admin('POST', '/accounts', {
  email,
  name: 'Ada',
  role,
  password: 'long enough',
})
await service.admin('PATCH', `/accounts/${(account as { id: number }).id}`, { email_verified: true })
await service.admin('POST', '/stations', { sn: 'DEL-01', model: 'M1' })
const scopes = ['ingest', 'stations']
const { body: madeKey } = await service.admin('POST', '/keys', { account: email, name: 'gateway', scopes })
const { id: keyId, key } = madeKey as { id: number; key: string }
const [byDevice, byKey] = [basic('porch', password), `Bearer ${key}`]
const [device, gateway, nobody] = ['device porch', `key ${keyId}`, 'address 127.0.0.1']
const values = '"humidity":50,"pressure":1000'
const hot = `{"device":"porch","temperature":200}`
const header = 'timestamp,device,temperature,humidity,pressure\n'

async function rejectionsOf(query = ''): Promise<RejectionPage> {
  const { status, body } = await service.admin('GET', `/rejections${query}`)
  tap.equal(status, 200)
  return body as RejectionPage
}

async function send(method: string, path: string, body: string, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method,
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  await response.text()
}

const put = (authorization: string, body: string, more = {}) =>
  send('PUT', '/api/log', body, { authorization, ...more })
const csv = { 'content-type': 'text/csv' }
const batch = (authorization: string, body: string) => send('POST', '/api/log/batch', body, { authorization, ...csv })
const lines = (authorization: string, body: string, query = '') =>
  send('POST', `/api/v2/write${query}`, body, { authorization, 'content-type': 'text/plain' })
const points = (authorization: string, body: string, sn = 'DEL-01') =>
  send('POST', `/api/v1.0/device/${sn}/data/`, body, { authorization })
const byKeyName = basic(key, '')

function importPoints(body: string): Promise<void> {
  const token = readFileSync(join(service.dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  return send('POST', '/api/admin/import-points', body, { authorization: `Bearer ${token}`, ...csv })
}

async function publish(topic: string, payload: string, user = 'porch', secret = password): Promise<void> {
  let client: MqttClient
  try {
    const options = { username: user, password: secret, reconnectPeriod: 0 }
    client = await connectAsync(`mqtt://127.0.0.1:${mqttPort}`, options)
  } catch {
    return
  }
  client.on('error', () => undefined)
  await client.publishAsync(topic, payload, { qos: 1 }).catch(() => undefined)
  client.end(true)
}

interface Case {
  way: string
  send: () => Promise<unknown>
  entry: { sender: string; device?: string | null; reason: string | RegExp; count?: number }
  /** The reading is stored without a value or a field. */
  isPart?: true
}

/** Of a metric that is not built in. */
const low = '{"device":"porch","co2":-1}'
const lowReason = 'co2 must be between 0 and 100000'
/** Stored without one of its values. */
const cold = `{"device":"porch","temperature":-127,${values}}`
const coldReason = 'temperature must be between -90 and 85 (other values of the reading are stored)'
const times = `{"device":"porch","temperature":20,"created_at":17,"time":12.5}`
const entity = (unit: string, name: string, fields: string) => `${unit},domain=sensor,entity_id=${name} ${fields}`

const cases: Case[] = [
  {
    way: 'put',
    send: () => put(byDevice, cold),
    entry: { sender: device, device: 'porch', reason: coldReason },
    isPart: true,
  },
  {
    way: 'mqtt',
    send: () => publish('readings/porch', cold),
    entry: { sender: device, device: 'porch', reason: coldReason },
    isPart: true,
  },
  {
    way: 'batch',
    send: () => batch(byKey, `${header}2026-01-01T00:00:00Z,porch,-127,2,1000\n`),
    entry: { sender: gateway, device: 'porch', reason: coldReason },
    isPart: true,
  },
  {
    way: 'import',
    send: () => service.postImport(`${header}2026-01-01T00:00:00Z,porch,-127,2,1000\n`),
    entry: { sender: 'local admin token', device: 'porch', reason: coldReason },
    isPart: true,
  },
  {
    way: 'line_protocol',
    send: () => lines(byDevice, 'weather temperature=-127,humidity=2'),
    entry: { sender: device, device: 'porch', reason: coldReason },
    isPart: true,
  },
  {
    way: 'put',
    send: () => put(byDevice, times),
    entry: { sender: device, device: 'porch', reason: /^time is not the time of the reading: it is no time/ },
    isPart: true,
  },
  {
    way: 'mqtt',
    send: () => publish('readings/porch', '{"temperature":20,"created_at":17}'),
    entry: { sender: device, device: 'porch', reason: 'created_at is a time and no metric' },
    isPart: true,
  },
  {
    way: 'batch',
    send: () => batch(byKey, 'timestamp,device,temperature,last_seen\n2026-01-01T00:00:00Z,porch,1,17\n'),
    entry: { sender: gateway, device: null, reason: 'last_seen is a time and no metric' },
    isPart: true,
  },
  {
    way: 'put',
    send: () => put(byDevice, low),
    entry: { sender: device, device: 'porch', reason: `invalid payload: ${lowReason}` },
  },
  {
    way: 'batch',
    send: () => batch(byKey, `timestamp,device,co2\n2026-01-01T00:00:00Z,porch,-1\n`),
    entry: { sender: gateway, device: 'porch', reason: lowReason },
  },
  {
    way: 'import',
    send: () => service.postImport(`timestamp,device,co2\n2026-01-01T00:00:00Z,porch,-1\n`),
    entry: { sender: 'local admin token', device: 'porch', reason: lowReason },
  },
  {
    way: 'mqtt',
    send: () => publish('readings/porch', low),
    entry: { sender: device, device: 'porch', reason: `invalid payload: ${lowReason}` },
  },
  {
    way: 'line_protocol',
    send: () => lines(byDevice, 'weather co2=-1'),
    entry: { sender: device, device: 'porch', reason: lowReason },
  },
  {
    way: 'line_protocol',
    send: () => lines(byDevice, `full ${Array.from({ length: 66 }, (_, at) => `field_${at}=1`).join()}`),
    entry: {
      sender: device,
      device: 'porch',
      reason: /^field field_63 is not known: add it by "barograph metrics add"/,
    },
  },
  {
    way: 'line_protocol',
    send: () => lines(byKey, entity('IU', 'porch_temperature', 'value=1')),
    entry: { sender: gateway, reason: 'entity sensor.porch_temperature: the unit "IU" is not known' },
  },
  {
    way: 'line_protocol',
    send: () => lines(byKey, entity('units', 'washing_machine', 'value=1')),
    entry: { sender: gateway, reason: /^entity sensor.washing_machine is no metric: / },
  },
  {
    way: 'put',
    send: () => put(byDevice, hot),
    entry: { sender: device, device: 'porch', reason: 'invalid payload: temperature must be between -90 and 85' },
  },
  { way: 'put', send: () => put(byDevice, '{'), entry: { sender: device, device: 'porch', reason: 'invalid json' } },
  {
    way: 'put',
    send: () => put(byKey, hot.replace('porch', 'attic')),
    entry: { sender: gateway, device: 'attic', reason: 'device unknown' },
  },
  {
    way: 'put',
    send: () => put(basic('porch', 'no'), hot),
    entry: { sender: nobody, device: null, reason: 'unauthorized' },
  },
  {
    way: 'put',
    send: () => put(byDevice, 'x', { 'content-type': 'text/plain' }),
    entry: { sender: device, reason: 'unsupported media type' },
  },
  {
    way: 'batch',
    send: () => batch(byKey, `${header}2026-01-01T00:00:00Z,attic,1,2,1000\n2026-01-01T00:01:00Z,attic,1,2,1000\n`),
    entry: { sender: gateway, device: 'attic', reason: 'there is no device of this name', count: 2 },
  },
  { way: 'batch', send: () => batch(byDevice, 'a,b\n'), entry: { sender: device, reason: /^invalid payload: / } },
  { way: 'batch', send: () => batch('Bearer no', header), entry: { sender: nobody, reason: 'unauthorized' } },
  {
    way: 'line_protocol',
    send: () => lines(byDevice, 'weather note="dry"\nweather temperature=1'),
    entry: { sender: device, device: 'porch', reason: /note/ },
  },
  {
    way: 'line_protocol',
    send: () => lines('Token no', 'weather temperature=1'),
    entry: { sender: nobody, device: null, reason: 'unauthorized' },
  },
  {
    way: 'line_protocol',
    send: () => lines(byKey, 'weather temperature=1', '?precision=d'),
    entry: { sender: gateway, reason: /^invalid precision/ },
  },
  {
    way: 'mqtt',
    send: () => publish('readings/porch', reading(200, { humidity: null, pressure: null })),
    entry: { sender: device, device: 'porch', reason: 'invalid payload: temperature must be between -90 and 85' },
  },
  {
    way: 'mqtt',
    send: () => publish('readings/cellar', reading(1), 'any', key),
    entry: { sender: gateway, device: 'cellar', reason: 'there is no device of this name' },
  },
  {
    way: 'mqtt',
    send: () => publish('readings/porch', reading(1), 'porch', 'no'),
    entry: { sender: nobody, device: null, reason: 'no good credential' },
  },
  {
    way: 'import',
    send: () => service.postImport(`${header}2026-01-01T00:00:00Z,barn,1,2,1000\n`),
    entry: { sender: 'local admin token', device: 'barn', reason: 'there is no device of this name' },
  },
  {
    way: 'import_points',
    send: () => importPoints('timestamp,sn,parameter,unit,value\n2026-01-01T00:00:00Z,DEL-09,pm25,ugm3,1\n'),
    entry: { sender: 'local admin token', device: 'DEL-09', reason: 'there is no station with this sn' },
  },
  {
    way: 'air_quality',
    send: () => points(byKeyName, '[{"parameter":"pm25"},{"parameter":"pm25"}]'),
    entry: { sender: gateway, device: 'DEL-01', reason: /: /, count: 2 },
  },
  {
    way: 'air_quality',
    send: () => points(byKeyName, '['),
    entry: { sender: gateway, device: 'DEL-01', reason: 'invalid json' },
  },
  {
    way: 'air_quality',
    send: () => points(byKeyName, '{}', 'DEL-02'),
    entry: { sender: gateway, device: 'DEL-02', reason: /./ },
  },
  {
    way: 'air_quality',
    send: () => points(basic('no', ''), '{}'),
    entry: { sender: nobody, device: 'DEL-01', reason: /./ },
  },
]

for (const { way, send, entry, isPart = false } of cases) {
  tap.test(`${way}: ${entry.sender}, ${entry.reason}`, async t => {
    const newest = async () => (await rejectionsOf('?limit=1')).rejections.at(0)
    const before = (await newest())?.id
    const { rejected } = await rejectionsOf('?limit=1')
    await send()
    await until('it is told', async () => (await newest())?.id !== before)
    const told = await newest()
    t.match(told, { way, count: 1, ...entry })
    t.equal(told?.sender, entry.sender)
    if (typeof entry.reason === 'string') t.equal(told?.reason, entry.reason)
    t.equal((await rejectionsOf('?limit=1')).rejected, rejected + (isPart ? 0 : (entry.count ?? 1)), 'each once')
  })
}

tap.test('they come in pages, newest first, of a device or a way', async t => {
  const all = await rejectionsOf()
  t.ok(Date.parse(all.since) <= Date.parse(String(all.rejections.at(-1)?.first_at)))
  t.equal(all.next, null)
  const ids = all.rejections.map(({ id }) => id)
  t.strictSame(
    ids,
    [...ids].sort((a, b) => b - a),
  )
  const walked = []
  for (let after = ''; ; ) {
    const page = await rejectionsOf(`?limit=4${after}`)
    walked.push(...page.rejections)
    if (page.next === null) break
    after = `&after=${page.next}`
  }
  t.strictSame(walked, all.rejections)
  const devices = new Set((await rejectionsOf('?device=attic')).rejections.map(each => each.device))
  t.strictSame(devices, new Set(['attic']))
  t.strictSame(new Set((await rejectionsOf('?way=mqtt')).rejections.map(each => each.way)), new Set(['mqtt']))
  for (const query of ['?way=post', '?limit=0', '?limit=1001', '?after=x', '?page=2', `?device=${'x'.repeat(257)}`]) {
    t.equal((await service.admin('GET', `/rejections${query}`)).status, 400, query)
  }
})

tap.test('the same again is a count, and one line a minute of the log', async t => {
  await put(byDevice, hot)
  const [first] = (await rejectionsOf('?limit=1&way=put')).rejections
  await put(byDevice, hot)
  const [again] = (await rejectionsOf('?limit=1&way=put')).rejections
  t.equal(again?.count, Number(first?.count) + 1)
  t.equal(again?.first_at, first?.first_at)
  const lines = service
    .output()
    .split('\n')
    .filter(line => /"(?:reading|value) rejected"/.test(line))
  const told = Map.groupBy(
    lines.map(line => JSON.parse(line) as { time: number; sender: string }),
    line => line.sender,
  )
  for (const sender of [device, gateway, nobody]) {
    const times = told.get(sender)?.map(({ time }) => Number(new Date(time))) ?? []
    t.ok(times.length > 0, sender)
    // Between a clock that only goes on and that of the log lies a little.
    t.ok(
      times.every((time, index) => index === 0 || time - Number(times[index - 1]) > 59_000),
      sender,
    )
  }
})

tap.test('no credential is in what is kept or logged, and hostile names are text of bounded length', async t => {
  await put(byKey, JSON.stringify({ ...JSON.parse(hot), device: '<b>\u001b[2J\u202e' }))
  await put(byKey, JSON.stringify({ ...JSON.parse(hot), device: 'x'.repeat(60_000) }))
  const [long, hostile] = (await rejectionsOf('?limit=2')).rejections
  t.equal(long?.device?.length, 128)
  t.equal(hostile?.device, '<b>\ufffd[2J\ufffd')
  const huge = `{"a":"${'x'.repeat(1 << 20)}"}`
  await put(byKey, huge).catch(() => undefined)
  const text = JSON.stringify(await rejectionsOf('?limit=1000')) + service.output()
  t.ok(text.length < 100_000)
  for (const secret of [password, key, 'Basic ', 'Bearer ']) t.notOk(text.includes(secret))
})

tap.test('nobody but administrators sees them', async t => {
  for (const headers of [{}, { authorization: byDevice }, { authorization: byKey }, { 'x-api-key': key }]) {
    const { status } = await fetch(`${url}/api/admin/rejections`, { headers: headers as Record<string, string> })
    t.ok(status === 401 || status === 403, String(status))
  }
})
