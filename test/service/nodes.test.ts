/** Two nodes of one service on one PostgreSQL, each a separate process. One loses PostgreSQL. */

import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import t, { type Test } from 'tap'
import { Status } from '../../api/admin/status-answer.ts'
import { freePort } from '../../store/process/free-port.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { basicOf } from '../support/air-quality.ts'
import { barograph } from '../support/command-line.ts'
import type { TestHooks } from '../support/databases.ts'
import { eventOf } from '../support/mqtt.ts'
import { openCluster } from '../support/nodes.ts'
import { makePerson, password } from '../support/people.ts'
import { basic, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

interface AlternatingProxy {
  url: string
  /** Counts the requests of each node. */
  counts: number[]
}

/** Listens on the port. `urls` are the addresses of the nodes. */
async function startAlternatingProxy(t: TestHooks, port: number, urls: readonly string[]): Promise<AlternatingProxy> {
  const counts = urls.map(() => 0)
  let at = 0
  const server = createServer((asked, answer) => {
    const node = at++ % urls.length
    counts[node] = (counts[node] ?? 0) + 1
    const { method, url = '', headers } = asked
    const forwarded = request(new URL(url, urls[node]), { method, headers }, answered => {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders)
      answered.pipe(answer)
    })
    forwarded.on('error', () => answer.destroy())
    asked.pipe(forwarded)
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://localhost:${port}`, counts }
}

const attemptsMax = 20
const port = await freePort()
const environment = {
  PUBLIC_URL: `http://localhost:${port}`,
  TRUST_PROXY: '127.0.0.1',
  FAILED_ATTEMPTS: String(attemptsMax),
}
const words = ['--import', './test/support/list-modules.ts', 'test/support/node-process.ts']
const cluster = await openCluster(t, { command: [process.execPath, ...words], environment })
const mqttPorts = [await freePort(), await freePort()]
const one = await cluster.start({ MQTT_PORT: String(mqttPorts[0]) })
const proxy = await startTcpProxy(t, cluster.postgres.port, createRandom(1))
const byProxy = cluster.postgres.url.replace(/:\d+\//, `:${proxy.port}/`)
const other = await cluster.start({ MQTT_PORT: String(mqttPorts[1]), DATABASE_URL: byProxy })
/** Sends each request to another node than the one before. */
const { url } = await startAlternatingProxy(t, port, [one.url, other.url])

/** A device without a record: 404 for readers of all devices. */
const privateRead = '/api/device/nobody'

async function statusOf(url: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  const response = await fetch(url, { method, headers, redirect: 'manual' })
  await response.arrayBuffer()
  return response.status
}

const putStatus = async ({ put }: Service, device: string, secret: string) =>
  (await put(device, secret, { device, temperature: 20, humidity: 50, pressure: 1000 })).status

async function keyFor({ admin }: Service, account: number, scopes: string[]): Promise<{ id: number; key: string }> {
  const { status, body } = await admin('POST', '/keys', { account, name: 'k', scopes })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body as { id: number; key: string }
}

/** A visitor keeps cookies like a browser. Its requests alternate between the nodes. */
function createVisitor() {
  const jar = new Map<string, string>()
  return async (path: string, form?: Record<string, string>) => {
    const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }
    const post = { method: 'POST', headers: { ...headers, origin: url }, body: new URLSearchParams(form) }
    const init = form === undefined ? { headers } : post
    const response = await fetch(`${url}${path}`, { ...init, redirect: 'manual' })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const { status, headers: answered } = response
    return { status, text: await response.text(), location: answered.get('location'), cookie: headers.cookie }
  }
}

/** The value of a field of the form. */
const fieldOf = (text: string, name: string) => new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1] ?? ''

const email = 'olga@example.com'

t.test('the setup link works at each node for its two requests', async t => {
  const linkOf = ({ output }: Service) => /"setupUrl":"([^"]+)"/.exec(output())?.[1]
  await waitFor('the links are in the logs', () => linkOf(one) !== undefined && linkOf(other) !== undefined)
  t.equal(linkOf(other), linkOf(one))
  const path = linkOf(one)?.slice(url.length) ?? ''
  const visit = createVisitor()
  for (const node of [0, 1]) t.equal((await visit(path)).status, 200, `asked ${node}`)
  const made = await visit('/setup', { token: fieldOf((await visit(path)).text, 'token'), email, password })
  t.match(made, { status: 303, location: /account\?done=signed-up$/ })
  for (const node of [0, 1]) t.equal((await visit('/account')).status, 200, `signed in, asked ${node}`)
})

t.test('Auth.js takes the CSRF token that another node has given', async t => {
  const visit = createVisitor()
  const { csrfToken } = JSON.parse((await visit('/auth/csrf')).text)
  const signedIn = await visit('/auth/callback/credentials', { csrfToken, email, password })
  t.equal(signedIn.status, 302)
  t.notMatch(signedIn.location, /error/)
  for (const node of [0, 1]) {
    t.match(JSON.parse((await visit('/auth/session')).text), { user: { email } }, `asked ${node}`)
  }
})

t.test('a device gets its key across nodes that look it up, approve and answer', async t => {
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await (await fetch(`${url}/v1/auth/device/${path}`, init)).json()) as Record<string, unknown>
  }
  const visit = createVisitor()
  await visit('/sign-in', { email, password })
  const grant = await post('start', { client_name: 'Display' })
  const shown = await visit('/device', { form: 'look-up', user_code: String(grant['user_code']) })
  const fields = ['user_code', 'client_name', 'token'].map(name => [name, fieldOf(shown.text, name)])
  const decided = await visit('/device', { form: 'decide', ...Object.fromEntries(fields), decision: 'approve' })
  t.match(decided.text, 'has an API key with the permission to read')
  const { api_key: key } = await post('poll', { device_code: grant['device_code'] })
  for (const node of [one, other]) {
    t.equal(await statusOf(`${node.url}${privateRead}`, { 'x-api-key': String(key) }), 404)
  }
})

t.test('a change at one node applies at the other one once it is answered', async t => {
  const device = await one.addDevice('kitchen')
  t.equal(await putStatus(other, 'kitchen', device), 200, 'a device that was added')
  const rotated = await one.admin('POST', '/devices/kitchen/rotate?now=1')
  const next = (rotated.body as { password: string }).password
  t.equal(await putStatus(other, 'kitchen', device), 401, 'a password that was ended')
  t.equal(await putStatus(other, 'kitchen', next), 200, 'the one after it')
  await one.admin('PATCH', '/devices/kitchen', { log_switch: false })
  t.equal(await putStatus(other, 'kitchen', next), 403, 'a device that is switched off')
  await one.admin('DELETE', '/devices/kitchen')
  t.equal(await putStatus(other, 'kitchen', next), 401, 'a device that was removed')

  // The other way round.
  const person = await makePerson(other)
  const session = { authorization: `Bearer ${await person.bearer()}` }
  const me = () => statusOf(`${one.url}/v1/auth/me`, session)
  t.equal(await me(), 200, 'a session that has begun')
  const { id, key } = await keyFor(other, person.id, ['read'])
  const read = () => statusOf(`${one.url}${privateRead}`, { 'x-api-key': key })
  t.equal(await read(), 404, 'a key that was made')
  await other.admin('DELETE', `/keys/${id}`)
  t.equal(await read(), 401, 'a key that was revoked')
  await other.admin('PATCH', `/accounts/${person.id}`, { role: 'administrator' })
  const admin = await keyFor(other, person.id, ['admin'])
  const seesAll = () => statusOf(`${one.url}/api/admin/accounts`, { 'x-api-key': admin.key })
  t.equal(await seesAll(), 200, 'a role that was given')
  await other.admin('PATCH', `/accounts/${person.id}`, { role: 'user' })
  t.equal(await seesAll(), 403, 'a role that was taken')

  const owner = await makePerson(other)
  await other.admin('POST', '/stations', { sn: 'S-1', model: 'M1', owner: owner.id })
  const reader = await keyFor(other, person.id, ['read'])
  const station = () => statusOf(`${one.url}/api/v1.0/device/S-1`, { authorization: basicOf(reader.key) })
  t.equal(await station(), 200, 'a station that was added')
  await other.admin('PATCH', '/stations/S-1', { private: true })
  t.not(await station(), 200, 'a station that was made private')
  await other.admin('PATCH', `/accounts/${person.id}`, { is_active: false })
  t.equal(await me(), 401, 'an account that was switched off')
})

t.test('the later of two MQTT sessions of one client at two nodes stays', async t => {
  const secret = await one.addDevice('porch')
  const connect = async (t: Test, at: number) => {
    const options = { clientId: 'same', username: 'porch', password: secret, protocolVersion: 5, reconnectPeriod: 0 }
    const client = await connectAsync(`mqtt://127.0.0.1:${mqttPorts[at]}`, options as object)
    client.on('error', () => undefined)
    t.teardown(() => void client.end(true))
    return client
  }
  const earlier = await connect(t, 0)
  const ended = eventOf(earlier, 'close')
  const later = await connect(t, 1)
  await ended
  t.ok(later.connected)
})

t.test("each node allows its share of an address's failed attempts", async t => {
  const headers = { authorization: basic('porch', 'wrong'), 'x-forwarded-for': '192.0.2.1' }
  for (const node of [one, other]) {
    let count = 0
    while (count < 2 * attemptsMax && (await statusOf(`${node.url}/api/log`, headers, 'PUT')) === 401) count++
    // A third of a token comes back each second, half of it at each of two nodes.
    t.ok(count >= attemptsMax / 2 && count < attemptsMax, `${count} attempts`)
  }
})

const nodesOf = async ({ admin }: Service) => Status.parse((await admin('GET', '/status')).body).nodes ?? []

t.test('each node lists both, as do the command line and the lists of one node', async t => {
  const [first, second] = await nodesOf(other)
  t.match(second, { is_self: true, role: 'api', host: hostname(), lease_valid: true, problems: [] })
  t.match(first, { is_self: false, lease_valid: true })
  const asked = (await nodesOf(one)).map(({ id, is_self }) => `${id} ${is_self}`)
  t.strictSame(asked, [`${first?.id} true`, `${second?.id} false`], 'the oldest first')
  await waitFor('one of them leads', async () => (await nodesOf(one)).filter(({ leads }) => leads).length === 1)
  const run = { environment: { DATA_DIR: one.dataDirectory, PORT: new URL(one.url).port } }
  const { stdout } = await barograph(['status'], run)
  t.match(stdout, new RegExp(`^node ${first?.id} +api on ${hostname()}, \\S+, asked`, 'm'))
  t.match(stdout, new RegExp(`^node ${second?.id} +api on ${hostname()}`, 'm'))
  t.match((await one.admin('GET', '/rejections')).body, { node: { id: first?.id, host: hostname() } })
  const detail = new RegExp(`^node ${second?.id} answers, which does not have the list of node ${first?.id}`)
  t.match(await other.admin('GET', `/rejections?node=${first?.id}`), { status: 409, body: { detail } })
})

t.test('without PostgreSQL a node refuses sign-ins after its lease until it is back', async t => {
  const device = await one.addDevice('roof')
  const person = await makePerson(one)
  const bearer = await person.bearer()
  const { key } = await keyFor(one, person.id, ['read'])
  t.equal(await putStatus(other, 'roof', device), 200)
  proxy.trouble.silent = true
  proxy.cut()
  await waitFor('the lease is over', async () => (await putStatus(other, 'roof', device)) === 503)
  t.equal(await statusOf(`${other.url}${privateRead}`, { 'x-api-key': key }), 503, 'a private read')
  t.equal(await statusOf(`${other.url}/v1/auth/me`, { authorization: `Bearer ${bearer}` }), 503, 'an account')
  t.equal((await other.admin('POST', '/devices', { name: 'attic' })).status, 503, 'a change by the local token')
  t.match(await nodesOf(other), [{ is_self: true, problems: [/PostgreSQL does not answer it/] }])
  const ready = await fetch(`${other.url}/health/ready`)
  t.equal(ready.status, 503)
  t.match(await ready.text(), /the lease of this node has expired/)
  t.equal(await putStatus(one, 'roof', device), 200, 'the others go on')
  const rotated = await one.admin('POST', '/devices/roof/rotate?now=1')
  proxy.calm()
  await waitFor('the lease is back', async () => (await putStatus(other, 'roof', device)) !== 503)
  t.equal(await putStatus(other, 'roof', device), 401, 'what was revoked meanwhile')
  t.equal(await putStatus(other, 'roof', (rotated.body as { password: string }).password), 200)
})

t.test('the local admin token belongs to its node, and SECRETS_DIR keeps its secrets out of DATA_DIR', async t => {
  const secrets = join(one.dataDirectory, 'secrets')
  t.match(readFileSync(join(secrets, 'admin-token'), 'utf8'), /^[0-9a-f]{64}\n$/)
  t.throws(() => readFileSync(join(secrets, 'token-secret')), { code: 'ENOENT' })
})

t.test('a service without Kafka loads no module of its client', async t => {
  await other.end('SIGTERM')
  t.match(other.output(), /\/ingest\/ingest\.ts\n/, 'modules are listed')
  t.notMatch(other.output(), '@platformatic')
})
