/**
 * Acknowledged data survives kills and stops, a loss of QuestDB, and a full journal. Other losses:
 * `test/long/service-lost-questdb.long.ts`.
 */

import { fork } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { OpenApiDocument } from '../../api/docs/contract.ts'
import { freePort } from '../../store/process/free-port.ts'
import { appliedPositionsTable } from '../../store/tables.ts'
import { basicOf } from '../support/air-quality.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { barograph } from '../support/command-line.ts'
import { freezeProcess } from '../support/frozen.ts'
import { heldText } from '../support/held-answers.ts'
import { mailedToken } from '../support/mail-folder.ts'
import { addStations, makeStationKey } from '../support/people.ts'
import { isRunning, messageOf, serverPid, until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const [mqttPort, readerPort] = [await freePort(), await freePort()]
const child = fork(join(import.meta.dirname, '..', 'support', 'mqtt-broker.ts'), { stdio: 'inherit' })
t.teardown(() => child.kill())
const broker = `mqtt://127.0.0.1:${await messageOf<number>(child)}`
const environment = {
  MQTT_PORT: String(mqttPort),
  MQTT_BROKER_URL: broker,
  MQTT_BROKERS: `${broker} zigbee2mqtt=zigbee2mqtt/#`,
  LOG_LEVEL: 'debug',
  QUESTDB_PG_PORT: String(readerPort),
}
const first = await startService(t, { isFirstStart: true, environment })
const { dataDirectory } = first
const database = join(dataDirectory, 'questdb', 'root', 'db')
/** The one that runs at the time. */
let service: Service = first
const logged: string[] = []
const adminToken = () => readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()

/** The service before has ended. */
async function startAgain(more: Record<string, string> = {}): Promise<void> {
  logged.push(service.output())
  service = await startService(t, { dataDirectory, environment: { ...environment, ...more } })
}

const startMs = Date.now()
const reading = (device: string, temperature: number) => ({ device, temperature, humidity: 50, pressure: 1000 })

async function shown(device: string): Promise<number[]> {
  const response = await fetch(`${service.url}/api/readings/${device}?start=${startMs - 60_000}`)
  if (response.status !== 200) return []
  const readings = (await response.json()) as { temperature: number }[]
  return readings.map(({ temperature }) => temperature).sort((a, b) => a - b)
}

const untilShown = (device: string, wanted: readonly number[]) =>
  until(`all of ${device} are shown`, async () => (await shown(device)).join() === wanted.join())

async function ready(): Promise<{ status: string; reasons?: string[] }> {
  return (await (await fetch(`${service.url}/health/ready`)).json()) as { status: string; reasons?: string[] }
}

const untilReady = () => until('the service is ready', async () => (await ready()).status === 'ok')
const metrics = async () => await (await fetch(`${service.url}/metrics`)).text()

async function ask(method: string, path: string, body?: unknown): Promise<Record<string, never>> {
  const headers = { authorization: `Bearer ${adminToken()}`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  return JSON.parse((await heldText(method, await fetch(`${service.url}/api${path}`, init))) || '{}')
}

async function account(path: string, body?: object, method = body === undefined ? 'GET' : 'POST') {
  const sent = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const init = body === undefined ? { method, headers: { authorization: `Bearer ${token}` } } : sent
  const response = await fetch(`${service.url}/v1/auth${path}`, init)
  return { status: response.status, body: JSON.parse((await response.text()) || '{}') }
}

/** Required parameters of reads, by name. Any other text in a path names a missing thing. */
const values: Record<string, string> = {
  ...{ device: 'kitchen', sn: 'DEL-01', a: 'kitchen', b: 'kitchen', hours: '24', format: 'json' },
  ...{ start: String(startMs - 3_600_000), end: String(startMs) },
  date: new Date(startMs).toISOString().slice(0, 10),
}

/** The addresses of all reads. */
function readsOf({ paths }: OpenApiDocument): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    // The drive is another service's, which none is set for.
    if (get === undefined || path.includes('/google-drive/')) return []
    const valueFor = (name: string) => values[name] ?? '1'
    const needed = (get.parameters ?? []).filter(parameter => parameter.in === 'query' && parameter.required)
    const query = needed.map(({ name }) => `${name}=${encodeURIComponent(valueFor(name))}`).join('&')
    return `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueFor(name))}${query === '' ? '' : `?${query}`}`
  })
}

const passwords: Record<string, string> = {}

t.test('from the first ok of a first start on, no read is refused as too early', async t => {
  t.match(first.output(), /"setupUrl":"http[^"]+\/setup\?token=[\w-]{43}"/, 'the log has the link of the first account')
  for (const name of ['kitchen', 'freezer', 'barn', 'porch', 'shed', 'hut'])
    passwords[name] = await first.addDevice(name)
  await addStations(first.admin, ['DEL-01'])
  const key = await makeStationKey(first.url, first.admin)
  const authorizationFor = (path: string) => (path.startsWith('/api/v1.0/') ? basicOf(key) : `Bearer ${adminToken()}`)
  const reads = readsOf((await (await fetch(`${first.url}/openapi.json`)).json()) as OpenApiDocument)
  t.ok(reads.length > 40)
  await untilReady()
  const refused: string[] = []
  for (const path of reads) {
    const { status, body } = await fetch(first.url + path, { headers: { authorization: authorizationFor(path) } })
    await body?.cancel()
    if (status >= 500) refused.push(`${status} ${path}`)
  }
  t.strictSame(refused, [])
  const password = readFileSync(join(dataDirectory, 'secrets', 'questdb-reader'), 'utf8').trim()
  const reader = new pg.Client({ host: '127.0.0.1', port: readerPort, user: 'reader', password, database: 'qdb' })
  await reader.connect()
  t.equal((await reader.query('SELECT * FROM readings')).rowCount, 0, 'QUESTDB_PG_PORT has a reader')
  await reader.end()
})

const [email, password] = ['ada@example.com', 'correct horse battery']
let token = ''
const secrets: string[] = [password, email]
let ruleId = 0

async function alerts(): Promise<string> {
  const { alerts } = (await ask('GET', '/alerts')) as unknown as { alerts: Record<string, string | null>[] }
  return alerts.map(({ device, state, resolved_reason: end }) => `${device} ${state} ${end ?? ''}`.trim()).join()
}

const untilAlerts = (wanted: string) => until(wanted, async () => (await alerts()) === wanted)
const put = async (device: string, temperature: number, headers = {}) =>
  (await service.put(device, passwords[device] ?? '', reading(device, temperature), headers)).status

async function connect(t: Test, url: string, options: IClientOptions = {}): Promise<MqttClient> {
  const client = await connectAsync(url, { reconnectPeriod: 50, clean: false, clientId: 'test', ...options })
  client.on('error', () => undefined)
  t.teardown(() => void client.end(true))
  return client
}

t.test('after a loss of QuestDB and a kill of everything, all that was acknowledged counts', async t => {
  const credentials = { email, password }
  t.match(await account('/register', credentials), { status: 201, body: { email } })
  const verification = await mailedToken(dataDirectory, 'verify', email)
  t.match(await account('/verification/verify', { token: verification }), { status: 200 })
  token = (await account('/token', credentials)).body.access_token
  secrets.push(token, verification)
  const condition = { kind: 'above', metric: 'temperature', value: -15, hysteresis: 1 }
  const rule = { name: 'door', selector: { devices: ['freezer'] }, condition, severity: 'critical' }
  ruleId = (await ask('POST', '/alert-rules', rule))['id'] ?? 0
  await until('rules are evaluated', () => first.output().includes('alerts are evaluated'))
  for (const temperature of [-18, -10]) t.equal(await put('freezer', temperature), 200)
  await untilAlerts('freezer firing')
  await untilShown('freezer', [-18, -10])
  renameSync(database, `${database}.gone`)
  process.kill(serverPid({ path: dataDirectory }, 'questdb'), 'SIGKILL')

  const porch = { username: 'porch', password: passwords['porch'] ?? '' }
  const direct = await connect(t, `mqtt://127.0.0.1:${mqttPort}`, porch)
  const byBroker = await connect(t, broker)
  const count = 20
  const acknowledged: Promise<unknown>[] = []
  const publish = (client: MqttClient, device: string, index: number) => {
    const payload = { ...reading(device, index), timestamp: startMs - 1000 + index }
    return client.publishAsync(`readings/${device}`, JSON.stringify(payload), { qos: 1 })
  }
  for (let index = 0; index < count; index++) {
    acknowledged.push(publish(direct, 'porch', index))
    await publish(byBroker, 'barn', index)
  }
  const keyed = { 'idempotency-key': 'first' }
  t.equal(await put('kitchen', 21.5, keyed), 200)
  // The next process may be the only one to evaluate an acknowledged reading.
  t.equal(await put('freezer', -20), 200)
  await until('the loss is noticed', () => /replaying the journal/.test(first.output()))
  await first.killAll()
  await startAgain()
  t.equal(await put('kitchen', 21.5, keyed), 200, 'and the credential still counts')
  t.equal(await put('kitchen', 22, keyed), 422)
  await Promise.all(acknowledged)
  await untilShown('kitchen', [21.5])
  const all = Array.from({ length: count }, (_, index) => index)
  for (const device of ['porch', 'barn']) await untilShown(device, all)
  await untilAlerts('freezer resolved cleared')
  t.match(await account('/me'), { status: 200, body: { email } })
  await until('the broker is connected', async () => /^barograph_mqtt_broker_connected 1$/m.test(await metrics()))
  const closed = new Promise<void>(resolve => direct.once('close', () => resolve()))
  t.equal((await service.admin('POST', '/devices/porch/rotate?now=1')).status, 200)
  await closed
})

t.test('messages of sensors at a broker and by webhook survive a kill', async t => {
  const byBroker = await connect(t, broker)
  const sent: number[] = []
  const taken: number[] = []
  const publish = async () => {
    const [temperature, timeMs] = [sent.length, startMs - 1000 + sent.length]
    sent.push(temperature)
    const { device: _, ...values } = reading('shed', temperature)
    const body = JSON.stringify({ ...values, last_seen: new Date(timeMs).toISOString() })
    await byBroker.publishAsync('zigbee2mqtt/shed', body, { qos: 1 })
    return { ts: timeMs, values }
  }
  const authorization = basicOf('hut', passwords['hut'] ?? '')
  for (let more = 0; more < 20; more++) {
    const body = JSON.stringify(await publish())
    const headers = { authorization, 'content-type': 'application/json' }
    const { status } = await fetch(`${service.url}/in/thingsboard`, { method: 'POST', headers, body })
    t.equal(status, 200)
    taken.push(sent.length - 1)
  }
  await service.end('SIGKILL')
  for (let more = 0; more < 5; more++) await publish()
  await startAgain()
  await untilShown('hut', taken)
  await untilShown('shed', sent)
})

t.test('a killed PostgreSQL comes back without loss and unnoticed by known devices', async t => {
  const taken: number[] = [21.5]
  const putMore = async (count: number) => {
    for (let more = 0; more < count; more++) {
      const temperature = 30 + taken.length / 10
      t.equal(await put('kitchen', temperature), 200)
      taken.push(temperature)
    }
  }
  await putMore(50)
  process.kill(serverPid({ path: dataDirectory }, 'postgres'), 'SIGKILL')
  await putMore(20)
  await until('a device can be added again', async () => {
    return (await service.admin('POST', '/devices', { name: 'attic' })).status === 201
  })
  await untilShown('kitchen', taken)
  await untilReady()
})

t.test('a frozen QuestDB degrades the service, delays no stop, and gets its readings later', async t => {
  t.equal(await put('freezer', -9), 200)
  await untilAlerts('freezer firing,freezer resolved cleared')
  await until('readings are forwarded', async () => /^barograph_lag_readings 0$/m.test(await metrics()))
  const latest = async () => {
    const { last_seen, values } = await ask('GET', '/latest/freezer')
    return { last_seen, values }
  }
  const before = await latest()
  const pids = (['questdb', 'postgres'] as const).map(server => serverPid({ path: dataDirectory }, server))
  freezeProcess(pids[0] ?? 0)
  const attic = (await service.admin('POST', '/devices/attic/rotate?now=1')).body as { password: string }
  passwords['attic'] = attic.password
  t.equal(await put('attic', 20), 200, 'readings are taken')
  await until('it is degraded', async () => {
    const { status, reasons = [] } = await ready()
    return status === 'degraded' && /QuestDB/.test(reasons.join())
  })
  const text = await metrics()
  t.match(text, /^barograph_lag_readings 1$/m)
  t.match(text, /^barograph_questdb_up 0$/m)
  t.equal(await service.end('SIGTERM'), 0, 'the time for an orderly stop was enough')
  t.match(service.output(), /"msg":"stopped"/)
  t.strictSame(pids.filter(isRunning), [])

  await startAgain()
  await untilShown('attic', [20])
  await untilReady()
  t.strictSame(await latest(), before, 'the live state is as before')
  await untilAlerts('freezer firing,freezer resolved cleared')
  await ask('DELETE', `/alert-rules/${ruleId}`)
  await untilAlerts('freezer resolved rule_removed,freezer resolved cleared')
  t.match(await account('/logout', undefined, 'POST'), { status: 200 })
  t.match(await account('/me'), { status: 401 })
  await until('QuestDB has the position of what it shows', async () => {
    const [row] = await askQuestdb(dataDirectory, `SELECT max(position) FROM ${appliedPositionsTable}`)
    return Number(row?.[0]) > 0
  })
  t.equal(await service.end('SIGTERM'), 0)
  const log = [...logged, service.output()].join()
  const kept = ['session-secret', 'service-secret', 'token-secret'].map(name =>
    readFileSync(join(dataDirectory, 'secrets', name), 'utf8').trim(),
  )
  for (const secret of [...secrets, ...kept]) t.notOk(log.includes(secret), 'secrets are not logged')
})

t.test('a loss of rows that the journal no longer has is reported until it is accepted', async t => {
  // A trimmed segment takes 64 MiB of readings, which this replaces. Nothing is trimmed after QuestDB's position.
  const folder = join(dataDirectory, 'journal')
  for (const name of readdirSync(folder)) if (name.endsWith('.journal')) rmSync(join(folder, name))
  rmSync(database, { recursive: true })
  await startAgain()
  const lacks = /is empty or an older copy: it lacks readings that were received from \S+Z to \S+Z/
  await until('the loss is reported', async () => lacks.test(JSON.stringify(await ready())))
  const refused = await (await fetch(`${service.url}/api/readings/kitchen?start=${startMs}`)).json()
  t.match(refused, { status: 'database unavailable', detail: lacks })
  t.match(service.output(), /QuestDB lacks rows that it had/)
  t.equal(await put('kitchen', 23), 200)
  const doctor = await barograph(['doctor', '--url', service.url], { environment: { DATA_DIR: dataDirectory } })
  t.match(doctor.stdout, /problem +service +.*lacks readings that were received from \S+Z to \S+Z/)
  const accepted = /QUESTDB_ACCEPT_LOSS=(\S+Z)/.exec(JSON.stringify(await ready()))?.[1] ?? 'none'
  await service.end('SIGTERM')
  await startAgain({ QUESTDB_ACCEPT_LOSS: accepted, JOURNAL_MAX: '1MiB' })
  await untilShown('kitchen', [23])
  await untilReady()
})

t.test('a full journal answers 503, acknowledges no message, and recovers without loss', async t => {
  const username = 'tower'
  const password = await service.addDevice(username)
  passwords[username] = password
  const client = await connect(t, `mqtt://127.0.0.1:${mqttPort}`, { username, password, clean: true })
  const questdb = serverPid({ path: dataDirectory }, 'questdb')
  t.equal(await put(username, 1), 200)
  freezeProcess(questdb)
  let taken = 1
  let timeMs = startMs - 50_000
  // The bodies shrink until a reading no longer fits.
  for (let count = 10_000; count >= 1; count /= 10) {
    for (let status = 200; status === 200; ) {
      const lines = Array.from({ length: count }, () => `${username},${timeMs++},2,50,1000\n`)
      const answer = await service.postImport(`device,timestamp,temperature,humidity,pressure\n${lines.join('')}`)
      taken += answer.accepted
      status = answer.status
    }
  }
  const putTwo = () => service.put(username, password, reading(username, 2))
  let refused = await putTwo()
  for (; refused.status === 200; refused = await putTwo()) taken++
  t.equal(refused.status, 503)
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  t.strictSame(await refused.json(), { status: 'storage full' })
  t.equal((await fetch(`${service.url}/health/ready`)).status, 503)
  let isAcknowledged = false
  const payload = JSON.stringify(reading(username, 2))
  const published = client.publishAsync(`readings/${username}`, payload, { qos: 1 }).then(() => (isAcknowledged = true))
  const full = /^barograph_readings_rejected_total\{reason="full"\} ([3-9]|\d\d)/m
  await until('the message was refused, and came again', async () => full.test(await metrics()))
  t.notOk(isAcknowledged)
  process.kill(questdb, 'SIGCONT')
  await published
  taken++
  await until('it takes readings again', async () => (await put(username, 3)) === 200)
  taken++
  await service.allShown()
  t.equal((await shown(username)).length, taken, 'each is shown once')
})
