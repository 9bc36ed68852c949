/** Work that ends the service is tried once, then set aside. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { test } from 'tap'
import { idlePair, pairToJson } from '../../alerts/core/pair.ts'
import { Status } from '../../api/admin/status-answer.ts'
import { queueMail } from '../../auth/mail/outbox-rows.ts'
import { noteFailedWork, readSetAside, setAsideFailedWork } from '../../service/set-aside.ts'
import { attributed, type Work } from '../../store/limits/attributed-work.ts'
import {
  addChannel,
  deliveryParts,
  openDelivery,
  queueNotification,
  service,
  webhookAt,
} from '../support/alert-delivery.ts'
import { nowhere, silentLog, startDatabases, temporaryFolder } from '../support/databases.ts'
import { runToEnd } from '../support/run-program.ts'
import { type Service, type ServiceSettings, startService } from '../support/service.ts'
import { startTcpPostgres } from '../support/tcp-postgres.ts'
import { waitFor } from '../support/wait-for.ts'
import { lendQuestdb } from '../support/worker-questdb.ts'

/** A name server whose answer causes an internal error after every promise. */
const preload = `
import { Resolver } from 'node:dns/promises'
Resolver.prototype.resolve4 = () => new Promise(() => setTimeout(() => { throw new RangeError('made by a test') }))
`

async function ask({ url, dataDirectory }: Service, method: string, path: string, body?: unknown) {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
  const response = await fetch(`${url}/api${path}`, init)
  return (await response.json()) as Record<string, never>
}

const findingsOf = async ({ admin }: Service) => Status.parse((await admin('GET', '/status')).body).set_aside ?? []

test('a delivery that ended the service and a rule that ended the evaluation are findings at the next start', async t => {
  const { url: DATABASE_URL } = await startTcpPostgres(t)
  const pool = new pg.Pool({ connectionString: DATABASE_URL })
  t.teardown(() => pool.end())
  const preloaded = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, 'service/main.ts']
  const { settings: questdb } = await lendQuestdb(t)
  const settings: ServiceSettings = {
    environment: { DATABASE_URL, ...questdb },
    command: [process.execPath, ...preloaded],
  }
  const first = await startService(t, settings)
  const { dataDirectory } = first
  const hook = { name: 'hook', kind: 'webhook', settings: { url: 'https://hook.example/' } }
  const { id: channel } = await ask(first, 'POST', '/alert-channels', hook)
  const password = await first.addDevice('freezer')
  const condition = { kind: 'above', metric: 'temperature', value: 0, hysteresis: 1 }
  const rule = { name: 'warm', selector: { devices: ['freezer'] }, condition, channels: [channel] }
  const { id } = await ask(first, 'POST', '/alert-rules', rule)
  await waitFor('rules are evaluated', () => first.output().includes('alerts are evaluated'))
  const reading = { device: 'freezer', temperature: 9, humidity: 50, pressure: 1000 }
  await first.put('freezer', password, reading)
  // A group waits for half a minute otherwise.
  const hasten = 'UPDATE alert_groups SET due_at = now() WHERE due_at IS NOT NULL'
  await waitFor('its alert fires', async () => ((await pool.query(hasten)).rowCount ?? 0) > 0)
  await waitFor('the service ends', () => first.child.exitCode !== null)
  t.equal(first.child.exitCode, 1)
  t.match(first.output(), /RangeError: made by a test/)
  await pool.query('UPDATE alert_pairs SET state = $1', [pairToJson({ ...idlePair, changesMs: null as never })])

  const second = await startService(t, { ...settings, dataDirectory })
  t.match(second.output(), /work that ended the service is set aside/)
  const givenUp = { state: 'given_up', attempts: 1, channel: 'hook' }
  t.match(await ask(second, 'GET', '/alert-deliveries'), { deliveries: [givenUp] })
  await second.put('freezer', password, reading)
  await waitFor('the rule is disabled', async () => (await findingsOf(second)).length > 1)
  const ofRule = { kind: 'rule', problem: `rule ${id} ended the evaluation (TypeError) and is disabled` }
  const problem = /ended the service \(RangeError\) and is set aside: see barograph alerts/
  t.match(await findingsOf(second), [ofRule, { kind: 'delivery', problem }])
  const words = ['--url', second.url, '--token-file', join(dataDirectory, 'secrets', 'admin-token'), 'doctor']
  const run = { folder: process.cwd(), environment: process.env }
  const doctor = await runToEnd(process.execPath, ['cli/barograph.ts', ...words], run)
  t.match(doctor.stdout, /problem +set aside +notification \d+ ended the service/)
  t.match(await ask(second, 'PATCH', `/alert-rules/${id}`, { enabled: true }), { enabled: true })
  t.match(await findingsOf(second), [{ kind: 'delivery' }])
  t.equal(second.child.exitCode, null)
})

test('each kind of work is set aside once, until a person requests it again', async t => {
  const { store } = await startDatabases(t, nowhere)
  const pool = store.postgres
  const dataDirectory = temporaryFolder(t)
  const parts = deliveryParts(pool, { leads: () => false })
  const delivery = openDelivery(t, parts)
  const channel = (await addChannel(delivery, webhookAt('https://hook.example/'))).id
  const { nowMs } = parts.clock
  const idIn = async (sql: string, ...values: string[]) =>
    (await pool.query<{ id: string }>(sql, values)).rows[0]?.id ?? ''
  const queue = async () =>
    idIn('SELECT id FROM alert_notifications WHERE webhook_id = $1', await queueNotification(pool, { channel, nowMs }))
  const [first, waiting] = [await queue(), await queue()]
  await queueMail(pool, { kind: 'verification', email: 'ada@example.com', accountId: null, nowMs })
  const mail = await idIn('SELECT id FROM mail_outbox')
  const addJob =
    "INSERT INTO erase_jobs (rows_of, name, numbers, symbols) VALUES ('readings', 'porch', '{1}', '{s1}') RETURNING id"
  const job = await idIn(addJob)
  const file = join(dataDirectory, 'failed-work')
  const start = () => setAsideFailedWork({ dataDirectory, pool, log: silentLog })
  const failed = async (kind: Work['kind'], id: string) => {
    const error = Object.assign(new Error('https://secret.example'), { code: 'ERR_MADE' })
    await attributed({ kind, id }, async () => noteFailedWork(dataDirectory, error, nowMs))
  }
  const found = async () => (await readSetAside(pool)).map(({ kind, id }) => `${kind} ${id}`)

  noteFailedWork(dataDirectory, new Error('of no work'), nowMs)
  t.notOk(existsSync(file), 'an error that no work has caused, as a kill, sets nothing aside')
  await start()
  await failed('delivery', first)
  await failed('mail', mail)
  await failed('erase', job)
  t.notMatch(readFileSync(file, 'utf8'), /secret/)
  appendFileSync(file, '{"kind":"delivery","id":"')
  await start()
  t.notOk(existsSync(file))
  t.strictSame(new Set(await found()), new Set([`delivery ${first}`, `erase ${job}`, `mail ${mail}`]))
  t.match(await delivery.deliveries.get(service, first), {
    state: 'given_up',
    attempt_list: [{ error: 'it ended the service' }],
  })
  t.match(await delivery.deliveries.get(service, waiting), { state: 'waiting' }, 'the next one of the channel is sent')
  t.match(await delivery.channels.get(service, channel), { enabled: true })
  t.strictSame((await pool.query('SELECT FROM mail_outbox')).rows, [])
  t.match((await pool.query('SELECT state FROM erase_jobs')).rows, [{ state: 'failed' }])

  await failed('delivery', waiting)
  await start()
  t.match(await delivery.channels.get(service, channel), { enabled: false, disabled_reason: 'crashed' })

  await pool.query("UPDATE alert_notifications SET state = 'delivered'")
  await pool.query(addJob)
  t.strictSame(await found(), [`mail ${mail}`])
})
