/** The same readings by every way in: the same verdicts, and the same rows in both tables. */

import fc from 'fast-check'
import { connectAsync } from 'mqtt'
import tap, { type Test } from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { measurementsTable, readingsTable } from '../../store/tables.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { until } from '../support/processes.ts'
import { basic, type Service, startService, withoutQuestdb } from '../support/service.ts'

interface Case {
  what: string
  /** `listing` lists co2 and temperature, `supply` voltage and the charge of its battery. */
  device: 'hall' | 'listing' | 'supply'
  fields: Record<string, unknown>
  isStored: boolean
  /** Nothing of it is written in line protocol, or ignored there: its lines are taken, and nothing is stored. */
  isLeftOut?: true
}

const good = { temperature: 21.5, humidity: 48, pressure: 1013.2 }
const nothing = { temperature: null, humidity: null, pressure: null }
const listed = { co2: 400, temperature: 3 }

const cases: Case[] = [
  { what: 'columns', device: 'hall', fields: { ...good, battery_voltage: 3.7 }, isStored: true },
  { what: 'further values', device: 'hall', fields: { ...good, co2: 412.5, door: true, pm2_5: 7 }, isStored: true },
  { what: 'another spelling', device: 'hall', fields: { ...good, co2_ppm: 413, windSpeed: 0 }, isStored: true },
  { what: 'two spellings of one', device: 'hall', fields: { ...good, co2: 1, co2_ppm: 2 }, isStored: true },
  { what: 'a value out of range', device: 'hall', fields: { ...good, co2: -5, door: false }, isStored: true },
  { what: 'a column out of range', device: 'hall', fields: { ...good, temperature: -127, co2: 600 }, isStored: true },
  { what: 'a bad value and a further one', device: 'hall', fields: { temperature: -127, co2: 601 }, isStored: true },
  { what: 'bad values alone', device: 'hall', fields: { temperature: -127, co2: -5 }, isStored: false },
  { what: 'a text in a column', device: 'hall', fields: { ...good, humidity: 'wet', co2: 7 }, isStored: false },
  { what: 'aliases', device: 'hall', fields: { temp: 20.5, RH: 41, batteryLevel: 77 }, isStored: true },
  { what: 'a battery in mV', device: 'hall', fields: { ...good, battery: 76, voltage: 3005 }, isStored: true },
  { what: 'mains', device: 'hall', fields: { ...good, battery: 75, voltage: 230 }, isStored: true },
  { what: 'an alias out of range', device: 'hall', fields: { temp: 21, soc: 900 }, isStored: true },
  { what: 'times of something else', device: 'hall', fields: { ...good, created_at: 1, lastSeen: 2 }, isStored: true },
  { what: 'no metrics', device: 'hall', fields: { ...good, '%': 1, note: 'dry', device_2_: 7 }, isStored: true },
  { what: 'a missing value', device: 'hall', fields: { ...good, co2: null }, isStored: true },
  { what: 'further values alone', device: 'hall', fields: { ...nothing, sap_flow: -1e6 }, isStored: true },
  { what: 'what is in the list', device: 'listing', fields: { ...listed, humidity: 900, flow: 1 }, isStored: true },
  { what: 'columns that are not', device: 'listing', fields: { ...good, co2: 401 }, isStored: true },
  { what: 'no value of one', device: 'listing', fields: { co2: null, temperature: 4 }, isStored: true },
  { what: 'one of those in the list', device: 'listing', fields: { temperature: 5 }, isStored: true },
  { what: 'none of those in the list', device: 'listing', fields: { humidity: 48 }, isStored: false, isLeftOut: true },
  { what: 'temperature alone', device: 'hall', fields: { temperature: 21.5 }, isStored: true },
  { what: 'one further value alone', device: 'hall', fields: { co2: 414 }, isStored: true },
  { what: 'nothing', device: 'hall', fields: { temperature: null }, isStored: false, isLeftOut: true },
  { what: 'a listed one out of range', device: 'listing', fields: { ...listed, co2: 1e9 }, isStored: true },
  { what: 'an alias of one in the list', device: 'listing', fields: { temp: 6, hum: 50, battery: 4 }, isStored: true },
  { what: 'a listed voltage', device: 'supply', fields: { battery: 74, voltage: 24 }, isStored: true },
]

/** Values without a column that are stored of them. */
const furtherOfCases = 16

type Sent = Record<string, unknown> & { timestamp: number; device: string }
/** Whether the reading is stored, as its sender is told. */
type Send = (reading: Sent) => Promise<boolean>

function cellOf(value: unknown): string {
  return value === null ? '' : typeof value === 'string' ? `"${value}"` : String(value)
}

function csvOf(reading: Sent): string {
  const names = Object.keys(reading).map(name => (/[ ",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
  return `${names.join()}\n${Object.values(reading).map(cellOf).join()}\n`
}

function lineOf({ timestamp, device, ...fields }: Sent): string {
  const given = Object.entries(fields).filter(([, value]) => value !== null)
  const escaped = (name: string) => name.replace(/[ ,=]/g, '\\$&')
  const fieldOf = ([name, value]: [string, unknown]) =>
    `${escaped(name)}=${typeof value === 'string' ? `"${value}"` : String(value)}`
  return `w,device=${device} ${given.map(fieldOf).join()} ${timestamp}`
}

/** `hall` is a device of `owner`. */
async function waysInto(
  t: Test,
  service: Service,
  port: number,
  owner: string | null = null,
): Promise<Record<string, Send>> {
  const listing = { metrics: ['co2', 'temperature'] }
  const passwords: Record<string, string> = {
    hall: await service.addDevice('hall', { owner }),
    listing: await service.addDevice('listing', listing),
    supply: await service.addDevice('supply', { metrics: ['voltage', 'battery_percentage'] }),
  }
  const post = async (path: string, type: string, body: string, { device }: Sent): Promise<Response> => {
    const authorization = basic(device, passwords[device] ?? '')
    const headers = { authorization, 'content-type': type }
    return await fetch(`${service.url}${path}`, { method: 'POST', headers, body })
  }
  const batch = (type: string, bodyOf: (reading: Sent) => string): Send => {
    return async reading => {
      const response = await post('/api/log/batch', type, bodyOf(reading), reading)
      const { stored, rejected } = (await response.json()) as { stored: number; rejected: number }
      if (stored + rejected !== 1) throw new Error(`${response.status}: ${stored} stored, ${rejected} rejected`)
      return stored === 1
    }
  }
  const connect = async (device: string) => {
    const options = { username: device, password: passwords[device] ?? '', protocolVersion: 5 as const }
    const client = await connectAsync(`mqtt://127.0.0.1:${port}`, options)
    t.teardown(() => void client.end(true))
    return client
  }
  const clients = { hall: await connect('hall'), listing: await connect('listing'), supply: await connect('supply') }
  return {
    put: async reading => (await service.put(reading.device, passwords[reading.device] ?? '', reading)).status === 200,
    json: batch('application/json', reading => JSON.stringify([reading])),
    ndjson: batch('application/x-ndjson', reading => JSON.stringify(reading)),
    csv: batch('text/csv', csvOf),
    import: async reading => (await service.postImport(csvOf(reading))).accepted === 1,
    'line protocol': async reading => {
      const { status } = await post('/write?precision=ms', 'text/plain', lineOf(reading), reading)
      return status === 204
    },
    async mqtt(reading) {
      const client = clients[reading.device as keyof typeof clients]
      const published = client.publishAsync(`readings/${reading.device}`, JSON.stringify(reading), { qos: 1 })
      return await published.then(
        () => true,
        () => false,
      )
    },
  }
}

tap.test('the same readings have the same verdicts and the same rows by every way in', async t => {
  const port = await freePort()
  const environment = { MQTT_PORT: String(port), LINE_PROTOCOL_UNKNOWN_FIELDS: 'ignore' }
  const service = await startService(t, { environment })
  const ways = await waysInto(t, service, port)
  // Of each way the times of a day of its own.
  const firstMs = Date.UTC(2026, 0, 1)
  const dayMs = 86_400_000
  const startOf = (way: number) => firstMs + way * dayMs
  for (const [way, [name, send]] of Object.entries(ways).entries()) {
    for (const [index, { what, device, fields, isStored, isLeftOut }] of cases.entries()) {
      if (isLeftOut && name === 'line protocol') continue
      const reading = { timestamp: startOf(way) + index * 1000, device, ...fields }
      t.equal(await send(reading), isStored, `${name}: ${what}`)
    }
  }
  const { dataDirectory } = service
  const rowsOf = async (sql: string) =>
    (await askQuestdb(dataDirectory, sql)).map(([ts, ...values]) => [Date.parse(String(ts)), ...values] as const)
  const stored = Object.keys(ways).length * cases.filter(({ isStored }) => isStored).length
  const readings = () => rowsOf(`SELECT * FROM ${readingsTable} ORDER BY ts`)
  await until('all readings are there', async () => (await readings().catch(() => [])).length === stored)
  const further = () =>
    rowsOf(`SELECT ts, series, value FROM ${measurementsTable} WHERE value IS NOT NULL ORDER BY ts, series`)
  // Of both tables; values of a reading may be visible after it.
  await until(
    'all values are there',
    async () => (await further()).length === furtherOfCases * Object.keys(ways).length,
  )
  const [inColumns, inSeries] = [await readings(), await further()]
  const ofWay = (rows: typeof inColumns, way: number) =>
    rows
      .filter(([timeMs]) => timeMs >= startOf(way) && timeMs < startOf(way + 1))
      .map(([timeMs, ...values]) => [timeMs - startOf(way), ...values])
  t.same(
    new Set(
      ofWay(inSeries, 0)
        .slice(0, 3)
        .map(([, , value]) => value),
    ),
    new Set([412.5, 7, 1]),
  )
  for (const [way, name] of Object.keys(ways).entries()) {
    t.strictSame(ofWay(inColumns, way), ofWay(inColumns, 0), `${name}: columns`)
    t.strictSame(ofWay(inSeries, way), ofWay(inSeries, 0), `${name}: further values`)
  }
})

tap.test('what becomes no metric is named by batches, and refused by line protocol unless it is ignored', async t => {
  const service = await startService(t, { environment: { METRICS: 'declared' } })
  const password = await service.addDevice('hall')
  const headers = { authorization: basic('hall', password), 'content-type': 'application/x-ndjson' }
  const reading = { timestamp: Date.UTC(2026, 0, 1), device: 'hall', ...good, sap_flow: 1, note: 'dry' }
  const batch = async () => {
    const init = { method: 'POST', headers, body: JSON.stringify(reading) }
    return (await (await fetch(`${service.url}/api/log/batch`, init)).json()) as object
  }
  const line = async () => {
    const init = {
      method: 'POST',
      headers,
      body: lineOf({ timestamp: Date.UTC(2026, 0, 2), device: 'hall', sap_flow: 1 }),
    }
    const response = await fetch(`${service.url}/write?precision=ms`, init)
    return [response.status, await response.text()]
  }
  t.strictSame(await batch(), { status: 'success', stored: 1, rejected: 0, rejects: [], ignored: ['sap_flow', 'note'] })
  t.match(await line(), [400, /line 1: field sap_flow is not known/])
  t.match(await service.admin('POST', '/metrics', { name: 'sap_flow' }), { status: 201 })
  t.strictSame(await batch(), { status: 'success', stored: 1, rejected: 0, rejects: [], ignored: ['note'] })
  t.strictSame(await line(), [204, ''])
})

tap.test('by every way in the devices of an account make no more metrics than they may', async t => {
  const port = await freePort()
  const environment = { MQTT_PORT: String(port), METRICS_PER_OWNER: '1', LINE_PROTOCOL_UNKNOWN_FIELDS: 'ignore' }
  const service = await startService(t, { environment: { ...environment, ...withoutQuestdb } })
  const owner = 'ada@example.com'
  await service.admin('POST', '/accounts', { email: owner, name: 'Ada', role: 'user', password: 'long enough' })
  const ways = await waysInto(t, service, port, owner)
  for (const [at, [name, send]] of Object.entries(ways).entries()) {
    const fields = {
      ...good,
      own_1: 1,
      [`own_2_${at}`]: 1,
      [['noise', 'par', 'co', 'no', 'no2', 'o3', 'so2'][at] ?? '']: 1,
    }
    t.equal(await send({ timestamp: Date.UTC(2026, 0, 1), device: 'hall', ...fields }), true, name)
  }
  const { body } = await service.admin('GET', '/metrics')
  const names = (body as { metrics: { name: string }[] }).metrics.map(metric => metric.name).slice(5)
  t.strictSame(names, ['co2', 'voltage', 'own_1', 'noise', 'par', 'co', 'no', 'no2', 'o3', 'so2'])
  const password = await service.addDevice('porch', { owner })
  const answer = await service.put('porch', password, { device: 'porch', ...good, own_1: 1, own_3: 1 })
  t.match(await answer.json(), { ignored: ['own_3'] }, 'the sender is told')
  const free = await service.addDevice('free')
  const taken = await service.put('free', free, { device: 'free', ...good, free_1: 1, free_2: 1 })
  t.strictSame(await taken.json(), { status: 'success' })
})

tap.test('by every way in a device has 64 metrics, and what comes behind them makes none', async t => {
  const port = await freePort()
  const environment = { MQTT_PORT: String(port), LINE_PROTOCOL_UNKNOWN_FIELDS: 'ignore' }
  const service = await startService(t, { environment: { ...environment, ...withoutQuestdb } })
  const ways = await waysInto(t, service, port)
  const most = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`m_${at}`, at]))
  t.equal(await ways['put']?.({ timestamp: Date.UTC(2026, 0, 1), device: 'hall', ...good, ...most }), true)
  for (const [at, [name, send]] of Object.entries(ways).entries()) {
    const reading = {
      timestamp: Date.UTC(2026, 0, 2) + at,
      device: 'hall',
      ...good,
      m_0: 1,
      [`behind_${at}`]: 1,
      uv: 1,
    }
    t.equal(await send(reading), true, name)
  }
  const { body } = await service.admin('GET', '/metrics?search=behind')
  t.strictSame((body as { metrics: unknown[] }).metrics, [])
})

tap.test('a name that is new to two owners at once is one metric, and both readings have its value', async t => {
  const service = await startService(t)
  const owners = ['ada@example.com', 'eve@example.com']
  const passwords: string[] = []
  for (const [at, email] of owners.entries()) {
    await service.admin('POST', '/accounts', { email, name: email, role: 'user', password: 'long enough' })
    passwords.push(await service.addDevice(`of ${at}`, { owner: email }))
  }
  for (let round = 0; round < 10; round++) {
    const sent = passwords.map((password, at) =>
      service.put(`of ${at}`, password, { device: `of ${at}`, ...good, [`fresh_${round}`]: at }),
    )
    for (const response of await Promise.all(sent)) t.strictSame(await response.json(), { status: 'success' })
  }
  const { body } = await service.admin('GET', '/metrics?search=fresh')
  t.equal((body as { total: number }).total, 10)
  const values = async () =>
    await askQuestdb(
      service.dataDirectory,
      `SELECT count(), sum(value) FROM ${measurementsTable} WHERE value IS NOT NULL`,
    )
  await until('all values are there', async () => (await values().catch(() => []))[0]?.[0] === 20)
  t.strictSame(await values(), [[20, 10]])
})

/** What a sender may come up with: names that stand for the same metric, for none, or are too long, and any of their values. */
const fieldName = fc.oneof(
  fc.constantFrom(
    'co2',
    'CO2',
    'co2_ppm',
    'PM2.5',
    'pm2_5',
    'windSpeed',
    'wind speed',
    'door',
    'sap_flow',
    'dew_point',
  ),
  fc.constantFrom(
    '%',
    '°',
    '__proto__',
    'constructor',
    'toString',
    'Soil-Moisture',
    'date',
    'x'.repeat(64),
    'x'.repeat(65),
  ),
  fc.stringMatching(/^[a-zA-Zé中µ°%/._-]{1,12}( [a-z0-9,=]{1,6})?$/),
)
const fieldValue = fc.oneof(
  fc.constantFrom(true, false, null, 'dry', 'NaN', 'Infinity', 0, -0, 1, 0.1, 1e-300, 1e15, 1e16, -1e300, 5e-324),
  fc.constantFrom(0.123_456_789_012_345_68, 123_456_789_012_345_680_000, 9_007_199_254_740_992),
  fc.integer({ min: -1000, max: 1000 }),
)
const columns = new Set(['device', 'timestamp', 'temperature', 'humidity', 'pressure'])

tap.test('whatever fields are called and hold, every way in has the same verdict and stores the same', async t => {
  const port = await freePort()
  const environment = { MQTT_PORT: String(port), LINE_PROTOCOL_UNKNOWN_FIELDS: 'ignore' }
  const service = await startService(t, { environment })
  const ways = Object.entries(await waysInto(t, service, port))
  const firstMs = Date.UTC(2026, 0, 1)
  let runs = 0
  let storedCount = 0
  const property = fc.asyncProperty(
    fc.dictionary(fieldName, fieldValue, { maxKeys: 8, noNullPrototype: true }),
    async made => {
      const fields = Object.fromEntries(Object.entries(made).filter(([name]) => !columns.has(name)))
      const run = runs++
      // Each way is the first one at times.
      const order = ways.map((_, at) => (at + run) % ways.length)
      const verdicts = new Map<number, boolean>()
      for (const way of order) {
        const reading = { timestamp: firstMs + way * 86_400_000 + run * 1000, device: 'hall', ...good, ...fields }
        verdicts.set(way, (await ways[way]?.[1](reading)) ?? false)
      }
      const isStored = verdicts.get(0) === true
      if (isStored) storedCount++
      for (const [way, verdict] of verdicts) if (verdict !== isStored) throw new Error(`${ways[way]?.[0]}: ${verdict}`)
    },
  )
  await fc.assert(property, { numRuns: 60 })
  t.ok(storedCount > 10)
  // The last value of each way: when it is there, all before it are.
  const lastMs = runs * 1000
  for (const [way, [, send]] of ways.entries()) {
    const timestamp = firstMs + way * 86_400_000 + lastMs
    t.ok(await send({ timestamp, device: 'hall', ...good, co2: 600 }))
  }
  storedCount++
  const rowsOf = async (sql: string) => await askQuestdb(service.dataDirectory, sql)
  const count = async () => (await rowsOf(`SELECT count() FROM ${readingsTable}`).catch(() => []))[0]?.[0]
  await until('all readings are there', async () => (await count()) === storedCount * ways.length)
  const further = async () =>
    await rowsOf(`SELECT ts, series, value FROM ${measurementsTable} WHERE value IS NOT NULL ORDER BY ts, series`)
  let rows = await further()
  const ofWay = (way: number) =>
    rows
      .map(([ts, series, value]) => [Date.parse(String(ts)) - firstMs - way * 86_400_000, series, value] as const)
      .filter(([timeMs]) => timeMs >= 0 && timeMs < 86_400_000)
  // They may be visible after their readings.
  await until('the last value of each way is there', async () => {
    rows = await further()
    return ways.every((_, way) => ofWay(way).at(-1)?.[0] === lastMs)
  })
  t.ok(ofWay(0).length > 10)
  for (const [way, [name]] of ways.entries()) t.strictSame(ofWay(way), ofWay(0), name)
})
