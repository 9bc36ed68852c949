/** Work that ends the service is done once, and then set aside. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { test } from 'tap'
import { idlePair, pairToJson } from '../../alerts/core/pair.ts'
import { Status } from '../../api/admin/status-answer.ts'
import { queueMail } from '../../auth/mail/outbox-rows.ts'
import { attributed, type Work } from '../../limits/attributed-work.ts'
import { noteFailedWork, readSetAside, setAsideFailedWork } from '../../service/set-aside.ts'
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
import { type Service, startService } from '../support/service.ts'
import { startTcpPostgres } from '../support/tcp-postgres.ts'
import { waitFor } from '../support/wait-for.ts'

/** As a name server whose answer meets an error of ours, behind every promise. */
const preload = `
import { Resolver } from 'node:dns/promises'
Resolver.prototype.resolve4 = () => new Promise(() => setTimeout(() => { throw new RangeError('made by a test') }))
`

async function ask({ url, dataDirectory }: Service, method: string, path: string, body?: unknown) {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  return (await response.json()) as Record<string, never>
}

const findingsOf = async ({ admin }: Service) => Status.parse((await admin('GET', '/status')).body).set_aside ?? []

test('a delivery that ended the service is set aside at the next start, with a finding', async t => {
  const command: [string, ...string[]] = [
    process.execPath,
    '--import',
    `data:text/javascript,${encodeURIComponent(preload)}`,
    'service/main.ts',
  ]
  const first = await startService(t, { command })
  const { dataDirectory } = first
  const { id: channel } = await ask(first, 'POST', '/alert-channels', {
    name: 'hook',
    kind: 'webhook',
    settings: { url: 'https://hook.example/' },
  })
  const password = await first.addDevice('freezer')
  await ask(first, 'POST', '/alert-rules', {
    name: 'warm',
    selector: { devices: ['freezer'] },
    condition: { kind: 'above', metric: 'temperature', value: 0, hysteresis: 1 },
    channels: [channel],
  })
  await waitFor('rules are evaluated', () => first.output().includes('alerts are evaluated'))
  await first.put('freezer', password, { device: 'freezer', temperature: 9, humidity: 50, pressure: 1000 })
  await waitFor('the service ends', () => first.child.exitCode !== null)
  t.equal(first.child.exitCode, 1)
  t.match(first.output(), /RangeError: made by a test/)

  const second = await startService(t, { dataDirectory, command })
  t.match(second.output(), /work that ended the service is set aside/)
  t.match(await ask(second, 'GET', '/alert-deliveries'), {
    deliveries: [{ state: 'given_up', attempts: 1, channel: 'hook' }],
  })
  t.match(await findingsOf(second), [
    { kind: 'delivery', problem: /ended the service \(RangeError\) and is set aside: see barograph alerts/ },
  ])
  const words = ['--url', second.url, '--token-file', join(dataDirectory, 'secrets', 'admin-token'), 'doctor']
  const doctor = await runToEnd(process.execPath, ['cli/barograph.ts', ...words], {
    folder: process.cwd(),
    environment: process.env,
  })
  t.match(doctor.stdout, /problem +set aside +notification \d+ ended the service/)
  t.equal(second.child.exitCode, null)
})

test('a rule whose evaluation throws is a finding until it is enabled again', async t => {
  const { url: DATABASE_URL } = await startTcpPostgres(t)
  const pool = new pg.Pool({ connectionString: DATABASE_URL })
  t.teardown(() => pool.end())
  const service = await startService(t, { environment: { DATABASE_URL } })
  const password = await service.addDevice('freezer')
  const { id } = await ask(service, 'POST', '/alert-rules', {
    name: 'warm',
    enabled: false,
    selector: { devices: ['freezer'] },
    condition: { kind: 'above', metric: 'temperature', value: 0, hysteresis: 1 },
    channels: [],
  })
  const state = pairToJson({ ...idlePair, changesMs: null as never })
  await pool.query(
    `INSERT INTO alert_pairs (rule_id, device, state, state_us, changed_at)
     SELECT $1, number, $2, 'NaN', now() FROM devices`,
    [id, state],
  )
  const enable = () => ask(service, 'PATCH', `/alert-rules/${id}`, { enabled: true })
  t.match(await enable(), { enabled: true })
  await waitFor('rules are evaluated', () => service.output().includes('alerts are evaluated'))
  await service.put('freezer', password, { device: 'freezer', temperature: 9, humidity: 50, pressure: 1000 })
  await waitFor('it is found', async () => (await findingsOf(service)).length > 0)
  const problem = `rule ${id} ended the evaluation (TypeError) and is disabled`
  t.match(await findingsOf(service), [{ kind: 'rule', problem }])
  t.match(await enable(), { enabled: true })
  t.strictSame(await findingsOf(service), [])
})

test('each kind of work is set aside, once, and what a person has asked for again is no finding', async t => {
  const { store } = await startDatabases(t, nowhere)
  const pool = store.postgres
  const dataDirectory = temporaryFolder(t)
  const parts = deliveryParts(pool, { leads: () => false })
  const delivery = openDelivery(t, parts)
  const channel = (await addChannel(delivery, webhookAt('https://hook.example/'))).id
  const { nowMs } = parts.clock
  const idOf = async (webhookId: string) =>
    (await pool.query<{ id: string }>('SELECT id FROM alert_notifications WHERE webhook_id = $1', [webhookId])).rows[0]
      ?.id ?? ''
  const first = await idOf(await queueNotification(pool, { channel, nowMs }))
  const waiting = await idOf(await queueNotification(pool, { channel, nowMs }))
  await queueMail(pool, { kind: 'verification', email: 'ada@example.com', accountId: null, nowMs })
  const mail = (await pool.query<{ id: string }>('SELECT id FROM mail_outbox')).rows[0]?.id ?? ''
  const job =
    (
      await pool.query<{ id: string }>(
        "INSERT INTO erase_jobs (rows_of, name, numbers, symbols) VALUES ('readings', 'porch', '{1}', '{s1}') RETURNING id",
      )
    ).rows[0]?.id ?? ''
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
  await pool.query(
    "INSERT INTO erase_jobs (rows_of, name, numbers, symbols) VALUES ('readings', 'porch', '{1}', '{s1}')",
  )
  t.strictSame(await found(), [`mail ${mail}`])
})
