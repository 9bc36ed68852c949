/**
 * A walk over a whole service after an erase. Values, names and texts of an erased device and metric remain only in
 * places that docs/acknowledgement.md lists.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import pg from 'pg'
import t, { type Test } from 'tap'
import { writeDeadLetter } from '../../../../ingest/forwarder/dead-letters.ts'
import { openDisk } from '../../../../ingest/journal/disk.ts'
import { readingLength, readings, writeReading } from '../../../../ingest/readings-table.ts'
import { freePort } from '../../../../store/process/free-port.ts'
import { startReceiver } from '../../../support/alert-receiver.ts'
import { askQuestdb } from '../../../support/ask-questdb.ts'
import { becomes } from '../../../support/becomes.ts'
import { readMails } from '../../../support/mail-folder.ts'
import { makePerson } from '../../../support/people.ts'
import { basic, startService } from '../../../support/service.ts'
import { startTcpPostgres } from '../../../support/tcp-postgres.ts'
import { waitFor } from '../../../support/wait-for.ts'

/** The text is in the name, the place and each text about the erased device. */
const text = 'qzxv'
const gone = `${text} porch`
const value = 23.4567891
/** A value of the erased metric of a device that stays. */
const metricValue = 34.5678912
const metric = 'sap_flow'
const columns = { humidity: 50, pressure: 1000 }

/** Columns in which an erased device may be, as docs/acknowledgement.md lists them. */
const allowed = [
  // The record of the device, marked as removed.
  ...['name', 'slug', 'symbol', 'location_short', 'location_desc', 'tags'].map(column => `devices.${column}`),
  // The report of the erase, and the audit log.
  ...['erase_jobs.name', 'erase_jobs.symbols', 'audit.subject', 'audit.details'],
  // Rules and silences list devices by name. Saved views have the name in their address or in a panel.
  ...['alert_rules.selector', 'alert_silences.selector'],
  ...['saved_views.address', 'saved_views.panels'],
]

const readingsOfDevice = `/api/readings/NAME?start=${Date.now() - 86_400_000}`
/** Answers that show a device before it is erased. */
const shownIn = {
  lists: [
    ...['/api/admin/rejections', '/api/admin/dead-letters'],
    ...['/api/admin/export?format=csv', '/api/admin/export?format=ndjson'],
    ...['/api/alerts', '/api/annotations', '/api/fleet', '/api/latest/all/24'],
  ],
  ofDevice: ['/api/latest/NAME', '/api/device/NAME/annotations', readingsOfDevice, '/api/detail_data/NAME'],
  others: ['/api/alerts/ID', '/api/alert-deliveries/ID', '/api/alert-rules/preview'],
}

/** Places that the walk must find before the erase. */
const erasedPlaces = {
  tables: 'alert_attempts.answer alert_notifications.message alert_pairs.state alerts.value annotations.text'.split(
    ' ',
  ),
  answers: Object.values(shownIn).flat(),
}

const receiver = await startReceiver(t)
const mqttPort = await freePort()
const { url: DATABASE_URL } = await startTcpPostgres(t)
const pool = new pg.Pool({ connectionString: DATABASE_URL })
t.teardown(() => pool.end())
const service = await startService(t, {
  environment: { DATABASE_URL, MQTT_PORT: String(mqttPort), ALERT_TARGETS_ALLOWED: '127.0.0.0/8' },
})
const { url, dataDirectory } = service
const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
const person = await makePerson(service, { role: 'administrator' })

async function ask(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more }
  const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${url}${path}`, { method, headers, body: sent })
  return await response.text()
}

async function make<Made>(path: string, body: unknown, more: Record<string, string> = {}): Promise<Made> {
  const made = JSON.parse(await ask('POST', path, body, more))
  if (made.status >= 400) throw new Error(`${path}: ${JSON.stringify(made)}`)
  return made
}

/** One alert is written to a mail, and waits for a webhook that repeats the notification and fails. */
async function addRule(name: string, device: string, condition: object): Promise<void> {
  const channels: number[] = []
  for (const [kind, settings] of Object.entries({ webhook: { url: receiver.origin }, email: { to: person.email } })) {
    channels.push((await make<{ id: number }>('/api/alert-channels', { name: `${name} ${kind}`, kind, settings })).id)
  }
  await make('/api/alert-rules', { name, selector: { devices: [device] }, condition, channels })
}

/** Every column of every table that shows one of the marks, as `table.column`. */
async function inPostgres(marks: readonly string[]): Promise<string[]> {
  const { rows: tables } = await pool.query<{ table_schema: string; table_name: string }>(
    `SELECT table_schema, table_name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  )
  const found = new Set<string>()
  for (const { table_schema: schema, table_name: name } of tables) {
    const { rows } = await pool.query<{ row: object }>(
      `SELECT to_jsonb(each) AS row FROM "${schema}"."${name}" AS each`,
    )
    for (const [column, shown] of rows.flatMap(({ row }) => Object.entries(row)))
      if (shows(JSON.stringify(shown), marks)) found.add(`${name}.${column}`)
  }
  return [...found].sort()
}

async function inQuestdb(marks: readonly string[]): Promise<string[]> {
  const tables = (await askQuestdb(dataDirectory, 'SELECT table_name FROM tables()')).map(([name]) => String(name))
  const found: string[] = []
  const { rows: devices } = await pool.query<{ symbol: string }>('SELECT symbol FROM devices')
  /** The unused symbol stays, in each table. */
  const withoutSymbols = (row: unknown[]) =>
    devices.reduce((shown, { symbol }) => shown.replaceAll(symbol, ''), JSON.stringify(row))
  for (const name of tables.toSorted((a, b) => a.localeCompare(b))) {
    const rows = await askQuestdb(dataDirectory, `SELECT * FROM '${name}'`)
    if (rows.some(row => shows(withoutSymbols(row), marks))) found.push(name)
  }
  return found
}

/** Files of the service without the databases. The search includes the bytes of a value. */
function inFiles(marks: readonly string[], number: number): string[] {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(number)
  const folders = readdirSync(dataDirectory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(dataDirectory.length + 1))
    .filter(path => !path.startsWith('questdb/') && !path.startsWith('postgres/'))
    .filter(path => {
      const content = readFileSync(join(dataDirectory, path))
      return shows(`${path} ${content.toString('latin1')}`, marks) || content.includes(bytes)
    })
    .map(path => path.slice(0, path.indexOf('/')))
  return [...new Set(folders)].sort()
}

const lists = [
  ...shownIn.lists,
  ...['devices', 'metrics', 'status', 'status/history'].map(name => `/api/admin/${name}`),
  ...['/api/alerts/groups', '/api/alert-deliveries', '/api/alert-channels', '/metrics'],
  ...['insights', 'groups', 'map', 'trends'].map(name => `/api/fleet/${name}`),
]
const ofDevice = [...shownIn.ofDevice, '/api/device/NAME', '/api/stats_data/NAME']

async function inAnswers(marks: readonly string[], device: string): Promise<string[]> {
  const found: string[] = []
  const look = (name: string, answer: string, shown = marks) => void (shows(answer, shown) && found.push(name))
  for (const path of lists) look(path, await ask('GET', path))
  for (const kind of ['alerts', 'alert-deliveries'] as const) {
    const list = JSON.parse(await ask('GET', `/api/${kind}`))
    for (const { id } of list[kind === 'alerts' ? 'alerts' : 'deliveries'])
      look(`/api/${kind}/ID`, await ask('GET', `/api/${kind}/${id}`))
  }
  // An answer about an unknown device may repeat its name.
  const values = marks.filter(mark => mark !== text)
  for (const path of ofDevice) look(path, await ask('GET', path.replace('NAME', encodeURIComponent(device))), values)
  const condition = { kind: 'above', metric: 'temperature', value: 1, hysteresis: 0 }
  const rule = { name: 'preview', selector: { all: true }, condition }
  look('/api/alert-rules/preview', await ask('POST', '/api/alert-rules/preview', { rule }))
  const leaving = { headers: { 'last-event-id': '0' }, signal: AbortSignal.timeout(1000) }
  const events = await fetch(`${url}/api/events`, leaving)
  let streamed = ''
  try {
    for await (const piece of events.body ?? []) streamed += Buffer.from(piece).toString()
  } catch {
    // The stream does not end by itself.
  }
  look('/api/events', streamed)
  return found
}

function shows(content: string | undefined, marks: readonly string[]): boolean {
  const lower = (content ?? '').toLowerCase()
  return marks.some(mark => lower.includes(mark))
}

async function untilErased(path: string): Promise<void> {
  await waitFor('it is erased', async () => {
    const { body } = await service.admin('GET', path)
    return (body as { state?: string }).state === 'done'
  })
}

const place = { location_short: `${text} room`, location_desc: `${text} house`, tags: [`site:${text}`] }
const passwords = { [gone]: await service.addDevice(gone, place), stays: await service.addDevice('stays') }

t.test('before the erase each place has the sent values', async t => {
  receiver.answer = (response, { body }) => void response.writeHead(500).end(body)
  await addRule('device rule', gone, { kind: 'above', metric: 'temperature', value: 1, hysteresis: 0 })
  await waitFor('rules are evaluated', () => service.output().includes('alerts are evaluated'))
  const now = Date.now()
  let sent = 0
  const reading = () => ({ device: gone, timestamp: now - 60_000 * ++sent, temperature: value, ...columns })
  const asDevice = { authorization: basic(gone, passwords[gone] ?? '') }
  const header = 'timestamp,device,temperature,humidity,pressure\n'
  const csv = () => `${header}${now - 60_000 * ++sent},${gone},${value},50,1000\n`
  await ask('PUT', '/api/log', { ...reading(), timestamp: now }, { ...asDevice, 'idempotency-key': `${text}-key` })
  await ask('POST', '/api/log/batch', [reading()], asDevice)
  await ask('POST', '/api/log/batch', csv(), { ...asDevice, 'content-type': 'text/csv' })
  await service.import(csv())
  const line = `w,device=${gone.replace(' ', '\\ ')} temperature=${value},humidity=50,pressure=1000 ${now - 60_000 * ++sent}`
  await ask('POST', '/write?precision=ms', line, { ...asDevice, 'content-type': 'text/plain' })
  const client = await connectAsync(`mqtt://127.0.0.1:${mqttPort}`, { username: gone, password: passwords[gone] ?? '' })
  await client.publishAsync(`readings/${gone}`, JSON.stringify(reading()), { qos: 1 })
  await client.endAsync()
  await ask('PUT', '/api/log', { ...reading(), temperature: `${text} ${value}` }, asDevice)
  await ask('PUT', '/api/log', { ...reading(), [`${text} note`]: 'dry' }, asDevice)
  const asCsv = { ...asDevice, 'content-type': 'text/csv' }
  await ask('POST', '/api/log/batch', `${header}${now},${gone},200,50,1000\n`, asCsv)
  const at = new Date(now - 3_600_000).toISOString()
  const asPerson = { cookie: person.cookie, origin: url }
  await make('/api/annotations', { device: gone, from: at, to: null, text: `${text} ${value}` })
  const [from, until] = [1, 2].map(hours => new Date(now + hours * 3_600_000).toISOString())
  await make('/api/silences', { selector: { devices: [gone] }, from, until, reason: 'night' })
  const post = (path: string, body: object) => {
    const headers = { ...asPerson, 'content-type': 'application/json' }
    return fetch(`${url}/v1/auth/me/views${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  const saved = await post('', { name: 'view', address: `/device/${encodeURIComponent(gone)}` })
  const { id: view } = (await saved.json()) as { id: number }
  await post(`/${view}/links`, { expires_in_days: 7 })
  await service.put('stays', passwords.stays ?? '', { device: 'stays', temperature: 20, ...columns, [metric]: 1 })
  await addRule('metric rule', 'stays', { kind: 'above', metric, value: 2, hysteresis: 0 })
  const far = { device: 'stays', temperature: 20, ...columns, [metric]: metricValue }
  await waitFor('an alert of the metric fires', async () => {
    await service.put('stays', passwords.stays ?? '', far)
    return (await ask('GET', '/api/alerts?rule=2')).includes('firing')
  })
  writeLetters(await numbersOf())
  await waitFor('both mails are files', async () => {
    // A group waits for half a minute otherwise.
    await pool.query('UPDATE alert_groups SET due_at = now() WHERE due_at IS NOT NULL')
    return readMails(dataDirectory).length === 2
  })
  await waitFor('both answers are kept', async () => {
    const { rows } = await pool.query("SELECT FROM alert_attempts WHERE answer <> ''")
    return rows.length >= 2
  })
  await waitFor('all is forwarded', async () => (await inQuestdb([String(value)])).length > 0)
  const marks = [text, String(value)]
  const missing = (wanted: readonly string[], found: readonly string[]) =>
    wanted.filter(place => !found.includes(place))
  t.strictSame(missing(erasedPlaces.tables, await inPostgres(marks)), [])
  t.strictSame(missing(['device_names', 'readings', 'readings_1h'], await inQuestdb(marks)), [])
  await becomes(t, async () => missing(erasedPlaces.answers, await inAnswers(marks, gone)), [], 'answers')
  t.strictSame(inFiles(marks, value), ['journal', 'mail'])
})

async function numbersOf() {
  const { rows } = await pool.query<{ name: string; number: number; symbol: string; series: number | null }>(
    'SELECT name, devices.number, symbol, metric_series.number AS series FROM devices LEFT JOIN metric_series ON device = devices.number',
  )
  return rows
}

/** The letters look like readings that QuestDB has rejected. */
function writeLetters(devices: Awaited<ReturnType<typeof numbersOf>>): void {
  const disk = openDisk(join(dataDirectory, 'journal'))
  for (const [at, { name, number, symbol, series }] of devices.entries()) {
    const values = { temperature: name === gone ? value : 20, ...columns, battery_voltage: 3, battery_percentage: 50 }
    const custom = series === null ? {} : { custom: { series: [series], values: [metricValue] } }
    const given = { ...values, timestampMs: 1, ...custom }
    const bytes = new Uint8Array(readingLength({ number, symbol }, given))
    writeReading(new DataView(bytes.buffer), 0, { number, symbol }, 1000, false, given)
    writeDeadLetter(readings, disk, at, bytes, `${name} is wrong`, 0)
  }
}

async function walk(t: Test, marks: readonly string[], number: number, device: string): Promise<void> {
  const notAllowed = (places: readonly string[]) => places.filter(place => !allowed.includes(place))
  t.strictSame(notAllowed(await inPostgres(marks)), [], 'PostgreSQL')
  t.strictSame(await inQuestdb(marks), [], 'QuestDB')
  t.strictSame(inFiles(marks, number), [], 'files')
  t.strictSame(await inAnswers(marks, device), [], 'answers')
}

t.test('a metric that is erased is nowhere', async t => {
  t.equal((await service.admin('DELETE', `/devices/stays/metrics/${metric}`)).status, 202)
  await untilErased(`/devices/stays/metrics/${metric}`)
  await walk(t, [String(metricValue)], metricValue, 'stays')
  t.equal(readMails(dataDirectory).length, 1, 'its mail, which has the value rounded, is gone')
})

t.test('a device that is erased is nowhere else', async t => {
  const path = `/devices/${encodeURIComponent(gone)}/erase`
  t.equal((await service.admin('POST', path)).status, 202)
  await untilErased(path)
  await walk(t, [text, String(value)], value, gone)
})
