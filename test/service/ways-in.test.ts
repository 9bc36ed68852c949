/** Readings by every write path of a whole service: one verdict, the same rows in both tables, and a list of rejections. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import t, { type Test } from 'tap'
import type { RejectionPage } from '../../api/admin/answers.ts'
import { freePort } from '../../store/process/free-port.ts'
import { measurementsTable, readingsTable } from '../../store/tables.ts'
import { makeKey, makePerson } from '../support/people.ts'
import { until } from '../support/processes.ts'
import { basic, startService } from '../support/service.ts'
import { waysInto } from '../support/ways-in.ts'
import { lendQuestdb } from '../support/worker-questdb.ts'

const dayMs = 86_400_000
const port = await freePort()
const questdb = await lendQuestdb(t)
const settings = {
  ...questdb.settings,
  MQTT_PORT: String(port),
  LINE_PROTOCOL_PRESET: 'home-assistant',
  LINE_PROTOCOL_UNKNOWN_FIELDS: 'ignore',
  RETENTION_DAYS: '30',
}
const service = await startService(t, { environment: settings })
const { url, dataDirectory } = service

interface Case {
  what: string
  device?: 'hall' | 'listing' | 'supply'
  fields: Record<string, unknown>
  isRefused?: true
  /** Nothing of it is written in line protocol, or ignored there: its lines are taken, and nothing is stored. So are messages without values. */
  isLeftOut?: true
}

const good = { temperature: 21.5, humidity: 48, pressure: 1013.2 }
const nothing = { temperature: null, humidity: null, pressure: null }
const listed = { co2: 400, temperature: 3 }
const expired = Math.floor(Date.now() / 1000 - 32 * 86_400) * 1000

const cases: Case[] = [
  { what: 'columns', fields: { ...good, battery_voltage: 3.7 } },
  { what: 'custom values', fields: { ...good, co2: 412.5, door: true, pm2_5: 7 } },
  { what: 'two spellings of one', fields: { ...good, co2: 1, co2_ppm: 2 } },
  { what: 'values out of range', fields: { ...good, temperature: -127, co2: -5, door: false } },
  { what: 'bad values alone', fields: { temperature: -127, co2: -5 }, isRefused: true },
  { what: 'a text in a column', fields: { ...good, humidity: 'wet', co2: 7 }, isRefused: true },
  { what: 'an expired day', fields: { ...good, timestamp: expired }, isRefused: true },
  { what: 'aliases', fields: { temp: 20.5, RH: 41, batteryLevel: 77 } },
  { what: 'a battery in mV', fields: { ...good, battery: 76, voltage: 3005 } },
  { what: 'mains', fields: { ...good, battery: 75, voltage: 230 } },
  { what: 'times of something else', fields: { ...good, created_at: 1, lastSeen: 2 } },
  { what: 'no metrics', fields: { ...good, '%': 1, note: 'dry', device_2_: 7 } },
  { what: 'custom values alone', fields: { ...nothing, sap_flow: -1e6 } },
  { what: 'nothing', fields: { temperature: null }, isRefused: true, isLeftOut: true },
  { what: 'what is in the list', device: 'listing', fields: { ...listed, humidity: 900, flow: 1 } },
  { what: 'one of those in the list', device: 'listing', fields: { co2: null, temperature: 4 } },
  { what: 'none of those', device: 'listing', fields: { humidity: 48 }, isRefused: true, isLeftOut: true },
  { what: 'aliases of those', device: 'listing', fields: { temp: 6, hum: 50, battery: 4 } },
  { what: 'a listed voltage', device: 'supply', fields: { battery: 74, voltage: 24 } },
]

t.test('the same readings have the same verdicts and the same rows by every way in', async t => {
  const ways = await waysInto(t, service, port)
  // Each write path has its own day.
  const firstMs = (Math.floor(Date.now() / dayMs) - 20) * dayMs
  const startOf = (way: number) => firstMs + way * dayMs
  for (const [way, [name, send]] of Object.entries(ways).entries()) {
    for (const [index, { what, device = 'hall', fields, isRefused = false, isLeftOut }] of cases.entries()) {
      if (isLeftOut && (name === 'line protocol' || name === 'webhook')) continue
      const reading = { timestamp: startOf(way) + index * 1000, device, ...fields }
      t.equal(await send(reading), !isRefused, `${name}: ${what}`)
    }
    // All earlier values are there when this one is.
    t.ok(await send({ timestamp: startOf(way) + cases.length * 1000, device: 'hall', ...good, co2: 600 }))
  }
  const stored = Object.keys(ways).length * (1 + cases.filter(({ isRefused }) => isRefused !== true).length)
  const readings = () => questdb.sql(`SELECT * FROM ${readingsTable} ORDER BY ts`)
  await until('all readings are there', async () => (await readings().catch(() => [])).length === stored)
  const custom = () =>
    questdb.sql(`SELECT ts, series, value FROM ${measurementsTable} WHERE value IS NOT NULL ORDER BY ts, series`)
  const isLast = ([, , value]: unknown[]) => value === 600
  // Values of a reading may be visible after it.
  await until('all values are there', async () => (await custom()).filter(isLast).length === Object.keys(ways).length)
  const [inColumns, inSeries] = [await readings(), await custom()]
  const ofWay = (rows: unknown[][], way: number) =>
    rows
      .map(([ts, ...values]) => [Date.parse(String(ts)) - startOf(way), ...values])
      .filter(([offsetMs]) => Number(offsetMs) >= 0 && Number(offsetMs) < dayMs)
  const values = new Set(ofWay(inSeries, 0).map(([, , value]) => value))
  for (const value of [412.5, 7, 1, -1e6, 230]) t.ok(values.has(value), `${value} is stored`)
  for (const [way, name] of Object.keys(ways).entries()) {
    t.strictSame(ofWay(inColumns, way), ofWay(inColumns, 0), `${name}: columns`)
    t.strictSame(ofWay(inSeries, way), ofWay(inSeries, 0), `${name}: custom values`)
  }
})

// Home Assistant.

const person = await makePerson(service)
const homeKey = await makeKey(url, person.cookie, ['ingest'], { create_devices: true })
const startMs = Math.floor(Date.now() / 1000) * 1000 - 600_000
/** Nanoseconds. */
const at = (microseconds: number) => `${startMs * 1000 + microseconds}000`

/** The client for InfluxDB 1.x sends lines like these, with sorted tags and fields. */
function v1(lines: readonly string[]): Promise<Response> {
  const headers = { authorization: basic('homeassistant', homeKey), 'content-type': 'application/octet-stream' }
  return fetch(`${url}/write?db=home_assistant`, { method: 'POST', headers, body: `${lines.join('\n')}\n` })
}

/** The client for InfluxDB 2.x sends lines like these. */
function v2(lines: readonly string[]): Promise<Response> {
  const headers = { authorization: `Token ${homeKey}`, 'content-type': 'text/plain; charset=utf-8' }
  const query = 'org=home&bucket=home_assistant&precision=ns'
  return fetch(`${url}/api/v2/write?${query}`, { method: 'POST', headers, body: lines.join('\n') })
}

const sensor = (unit: string, entity: string, value: string, time: string) =>
  `${unit},domain=sensor,entity_id=${entity} friendly_name_str="${entity}",state_class_str="measurement",value=${value} ${time}`
const door = (time: string) =>
  `binary_sensor.porch_door,domain=binary_sensor,entity_id=porch_door friendly_name_str="Porch \\"Door\\"",state="on",value=1.0 ${time}`

async function becomes(t: Test, device: string, expected: readonly object[]): Promise<void> {
  const read = async () => {
    const response = await fetch(`${url}/api/readings/${device}?start=${startMs}&end=${startMs + 3_600_000}`)
    return response.status === 200 ? ((await response.json()) as object[]) : []
  }
  await until('the readings are there', async () => JSON.stringify(await read()) === JSON.stringify(expected))
  t.pass(device)
}

t.test('entities of Home Assistant become devices and metrics without replacing other parts', async t => {
  // It writes nothing, and takes a 400 for a connection that is good.
  t.equal((await v1([])).status, 204)
  t.equal((await v2([''])).status, 400)
  const lines = [
    sensor('°C', 'porch_temperature', '21.4', at(10)),
    sensor('%', 'porch_humidity', '48.0', at(250)),
    sensor('ppm', 'porch_co2', '640.0', at(250)),
    door(at(900)),
  ]
  t.equal((await v1(lines)).status, 204)
  const first = { ts: startMs, temperature: 21.4, humidity: 48, co2: 640, door: 1 }
  await becomes(t, 'porch', [first])
  const { metrics } = (await service.admin('GET', '/metrics')).body as { metrics: { name: string; kind: string }[] }
  t.equal(metrics.find(({ name }) => name === 'door')?.kind, 'state')
  // The second request is of the same millisecond, and both are sent again.
  const early = [sensor('°C', 'porch_temperature', '20', at(1_000_001))]
  const late = [sensor('%', 'porch_humidity', '40', at(1_000_140)), sensor('ppm', 'porch_co2', '600', at(1_000_141))]
  for (const lines of [early, late, early, late]) t.equal((await v2(lines)).status, 204)
  const ts = startMs + 1000
  await becomes(t, 'porch', [first, { ts, temperature: 20 }, { ts, humidity: 40, co2: 600 }])
  t.equal((await v2([`cpu,cpu=cpu-total,host=pi temperature=48.5,usage_idle=93.5 ${at(3_000_000)}`])).status, 204)
  await becomes(t, 'pi', [{ ts: startMs + 3000, temperature: 48.5, usage_idle: 93.5 }])
  for (const second of [5, 6]) {
    t.equal((await v2([sensor('units', 'attic_temperature', '20', at(second * 1_000_000))])).status, 204)
  }
  const { rejections } = (await service.admin('GET', '/rejections?device=attic')).body as { rejections: object[] }
  t.equal(rejections.length, 1)
  const reason = /^temperature has no unit: °C is assumed/
  t.match(rejections, [{ device: 'attic', way: 'line_protocol', reason, count: 2 }])
})

// Rejections, as administrators see them.

const password = await service.addDevice('roof')
await service.admin('POST', '/stations', { sn: 'DEL-01', model: 'M1' })
const administrator = await makePerson(service, { role: 'administrator' })
const key = await makeKey(url, administrator.cookie, ['ingest', 'stations'])
const { keys } = (await service.admin('GET', `/keys?account=${administrator.id}`)).body as { keys: { id: number }[] }
const [byDevice, byKey] = [basic('roof', password), `Bearer ${key}`]
const [device, gateway, nobody] = ['device roof', `key ${keys[0]?.id}`, 'address 127.0.0.1']
const hot = '{"device":"roof","temperature":200}'
const hotReason = 'invalid payload: temperature must be between -90 and 85'
/** Stored without one of its values. */
const cold = '{"device":"roof","temperature":-127,"humidity":50,"pressure":1000}'
const coldReason = 'temperature must be between -90 and 85 (other values of the reading are stored)'
const header = 'timestamp,device,temperature,humidity,pressure\n'
const noDevice = 'there is no device of this name'
const recent = new Date(Math.floor(Date.now() / 1000 - 60) * 1000).toISOString()

async function rejectionsOf(query = ''): Promise<RejectionPage> {
  const { status, body } = await service.admin('GET', `/rejections${query}`)
  if (status !== 200) throw new Error(`answered ${status}`)
  return body as RejectionPage
}

const send = (method: string, path: string, type: string) => async (authorization: string, body: string) => {
  const headers = { authorization, 'content-type': type }
  await (await fetch(`${url}${path}`, { method, body, headers })).text()
}
const put = send('PUT', '/api/log', 'application/json')
const webhook = send('POST', '/in/thingsboard', 'application/json')
const batch = send('POST', '/api/log/batch', 'text/csv')
const lines = send('POST', '/api/v2/write', 'text/plain')
const points = send('POST', '/api/v1.0/device/DEL-01/data/', 'application/json')
const importPoints = send('POST', '/api/admin/import-points', 'text/csv')
const adminToken = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()

async function publish(payload: string, user = 'roof', secret = password): Promise<void> {
  try {
    const options = { username: user, password: secret, reconnectPeriod: 0 }
    const client = await connectAsync(`mqtt://127.0.0.1:${port}`, options)
    client.on('error', () => undefined)
    await client.publishAsync('readings/roof', payload, { qos: 1 }).catch(() => undefined)
    client.end(true)
  } catch {
    // It is refused at its CONNECT.
  }
}

interface Rejected {
  way: string
  send: () => Promise<unknown>
  entry: { sender: string; device?: string | null; reason: string | RegExp; count?: number }
  /** The reading is stored without a value or a field. */
  isPart?: true
}

const inRow = (temperature: number, name = 'roof') => `${recent},${name},${temperature},2,1000\n`
const untimed = '{"device":"roof","temperature":20,"time":12.5}'
const twoRows = inRow(1, 'barn') + inRow(2, 'barn')
const coldLine = 'w temperature=-127,humidity=2'
const pointRow = `timestamp,sn,parameter,unit,value\n${recent},DEL-09,pm25,ugm3,1\n`
const twoPoints = '[{"parameter":"pm25"},{"parameter":"pm25"}]'
const isPart = true
const ofDevice = (reason: string | RegExp) => ({ sender: device, device: 'roof', reason })
const ofKey = (device: string, reason: string | RegExp) => ({ sender: gateway, device, reason })
const ofMachine = (device: string, reason: string) => ({ sender: 'local admin token', device, reason })
const ofNobody = { sender: nobody, reason: 'unauthorized' }
const rejected: Rejected[] = [
  { way: 'put', send: () => put(byDevice, hot), entry: ofDevice(hotReason) },
  { way: 'put', send: () => put(byDevice, cold), entry: ofDevice(coldReason), isPart },
  { way: 'put', send: () => put(byDevice, '{'), entry: ofDevice('invalid json') },
  { way: 'put', send: () => put(basic('roof', 'no'), hot), entry: { ...ofNobody, device: 'roof' } },
  { way: 'put', send: () => put(byDevice, untimed), entry: ofDevice(/^time is not the time of the r/), isPart },
  { way: 'mqtt', send: () => publish(hot), entry: ofDevice(hotReason) },
  { way: 'mqtt', send: () => publish(cold), entry: ofDevice(coldReason), isPart },
  {
    way: 'mqtt',
    send: () => publish(hot, 'roof', 'no'),
    entry: { ...ofNobody, device: 'roof', reason: 'no valid credential' },
  },
  { way: 'webhook', send: () => webhook(byDevice, hot), entry: ofDevice(`thingsboard: ${hotReason}`) },
  { way: 'webhook', send: () => webhook(byDevice, cold), entry: ofDevice(coldReason), isPart },
  { way: 'webhook', send: () => webhook(basic('roof', 'no'), hot), entry: { ...ofNobody, reason: /unauthorized$/ } },
  { way: 'batch', send: () => batch(byKey, header + twoRows), entry: { ...ofKey('barn', noDevice), count: 2 } },
  { way: 'batch', send: () => batch(byKey, header + inRow(-127)), entry: ofKey('roof', coldReason), isPart },
  { way: 'batch', send: () => batch('Bearer no', header), entry: { ...ofNobody, device: null } },
  { way: 'batch', send: () => batch(basic('roof', 'no'), header), entry: { ...ofNobody, device: 'roof' } },
  { way: 'put', send: () => put(basic(key, 'no'), hot), entry: { ...ofNobody, device: null } },
  { way: 'line_protocol', send: () => lines(byDevice, 'w co2=-1'), entry: ofDevice(/^co2 must be between/) },
  { way: 'line_protocol', send: () => lines(byDevice, coldLine), entry: ofDevice(coldReason), isPart },
  { way: 'line_protocol', send: () => lines('Token no', 'w temperature=1'), entry: { ...ofNobody, device: null } },
  { way: 'import', send: () => service.postImport(header + inRow(1, 'barn')), entry: ofMachine('barn', noDevice) },
  {
    way: 'import_points',
    send: () => importPoints(`Bearer ${adminToken}`, pointRow),
    entry: ofMachine('DEL-09', 'there is no station with this sn'),
  },
  { way: 'air_quality', send: () => points(basic(key, ''), twoPoints), entry: { ...ofKey('DEL-01', /: /), count: 2 } },
  {
    way: 'air_quality',
    send: () => points(basic('no', ''), '{}'),
    entry: { sender: nobody, device: 'DEL-01', reason: /./ },
  },
]

t.test('a rejection is listed with its path, sender, device and reason, and counted once', async t => {
  for (const { way, send, entry, isPart = false } of rejected) {
    const before = await rejectionsOf('?limit=1')
    await send()
    const page = () => rejectionsOf('?limit=1')
    await until('it is reported', async () => (await page()).rejections.at(0)?.id !== before.rejections.at(0)?.id)
    const { rejections, rejected: count } = await page()
    const name = `${way}: ${entry.sender}, ${entry.reason}`
    t.match(rejections.at(0), { way, count: 1, ...entry }, name)
    t.equal(count, before.rejected + (isPart ? 0 : (entry.count ?? 1)), `${name}: each once`)
  }
})

t.test('rejections have pages, newest first, by device or write path, without credentials', async t => {
  const all = await rejectionsOf()
  t.equal(all.next, null)
  const first = await rejectionsOf('?limit=9')
  const second = await rejectionsOf(`?limit=9&after=${first.next}`)
  t.strictSame([...first.rejections, ...second.rejections], all.rejections.slice(0, 18))
  t.strictSame(new Set((await rejectionsOf('?device=barn')).rejections.map(each => each.device)), new Set(['barn']))
  t.strictSame(new Set((await rejectionsOf('?way=mqtt')).rejections.map(each => each.way)), new Set(['mqtt']))
  const text = JSON.stringify(all) + service.output()
  for (const secret of [password, key, 'Basic ', 'Bearer ']) t.notOk(text.includes(secret))
})
