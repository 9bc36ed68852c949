/** Several nodes of one service on one PostgreSQL, each a process of its own. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createRandom } from '../faults/seeded-random.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { basicOf } from '../support/air-quality.ts'
import { freezeProcess } from '../support/frozen.ts'
import { makeSecrets, openCluster } from '../support/nodes.ts'
import { makePerson } from '../support/people.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

/** Of no device: 404 for whom reads are open to. */
const privateRead = '/api/device/nobody'
const reading = (device: string) => ({ device, temperature: 20, humidity: 50, pressure: 1000 })

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(url, { headers })
  await response.arrayBuffer()
  return response.status
}

const putStatus = async ({ put }: Service, device: string, password: string) =>
  (await put(device, password, reading(device))).status

async function keyFor({ admin }: Service, account: number, scopes: string[]): Promise<{ id: number; key: string }> {
  const { status, body } = await admin('POST', '/keys', { account, name: 'k', scopes })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body as { id: number; key: string }
}

const cluster = await openCluster(t)
const [one, other] = await Promise.all([cluster.start(), cluster.start()])

t.test('what one node changes holds at the others when the change is answered', async t => {
  await makePerson(one, { role: 'administrator' })
  for (const [a, b] of [
    [one, other],
    [other, one],
  ] as const) {
    const name = a === one ? 'kitchen' : 'roof'
    const password = await a.addDevice(name)
    t.equal(await putStatus(b, name, password), 200, 'a device that was added')
    const rotated = await a.admin('POST', `/devices/${name}/rotate?now=1`)
    const next = (rotated.body as { password: string }).password
    t.equal(await putStatus(b, name, password), 401, 'a password that was ended')
    t.equal(await putStatus(b, name, next), 200, 'the one after it')
    await a.admin('PATCH', `/devices/${name}`, { log_switch: false })
    t.equal(await putStatus(b, name, next), 403, 'a device that is switched off')
    await a.admin('DELETE', `/devices/${name}`)
    t.equal(await putStatus(b, name, next), 401, 'a device that was removed')

    const person = await makePerson(a)
    const session = { authorization: `Bearer ${await person.bearer()}` }
    const me = (node: Service) => statusOf(`${node.url}/v1/auth/me`, session)
    t.equal(await me(b), 200, 'a session that has begun')
    const { id, key } = await keyFor(a, person.id, ['read'])
    const read = (node: Service) => statusOf(`${node.url}${privateRead}`, { 'x-api-key': key })
    t.equal(await read(b), 404, 'a key that was made')
    await a.admin('DELETE', `/keys/${id}`)
    t.equal(await read(b), 401, 'a key that was revoked')
    await a.admin('PATCH', `/accounts/${person.id}`, { role: 'administrator' })
    const admin = await keyFor(a, person.id, ['admin'])
    const seesAll = () => statusOf(`${b.url}/api/admin/accounts`, { 'x-api-key': admin.key })
    t.equal(await seesAll(), 200, 'a role that was given')
    await a.admin('PATCH', `/accounts/${person.id}`, { role: 'user' })
    t.equal(await seesAll(), 403, 'a role that was taken')

    const owner = await makePerson(a)
    const sn = `S-${name}`
    await a.admin('POST', '/stations', { sn, model: 'M1', owner: owner.id })
    const reader = await keyFor(a, person.id, ['read'])
    const station = () => statusOf(`${b.url}/api/v1.0/device/${sn}`, { authorization: basicOf(reader.key) })
    t.equal(await station(), 200, 'a station that was added')
    await a.admin('PATCH', `/stations/${sn}`, { private: true })
    t.not(await station(), 200, 'a station that was made private')

    await a.admin('PATCH', `/accounts/${person.id}`, { is_active: false })
    t.equal(await me(b), 401, 'an account that was switched off')
  }
})

t.test('without PostgreSQL a node lets nobody in after its lease, says why, and comes back', async t => {
  const proxy = await startTcpProxy(t, cluster.postgres.port, createRandom(1))
  const far = await cluster.start({ DATABASE_URL: cluster.postgres.url.replace(/:\d+\//, `:${proxy.port}/`) })
  const near = one
  const password = await near.addDevice('kitchen')
  const person = await makePerson(near)
  const bearer = await person.bearer()
  const { key } = await keyFor(near, person.id, ['read'])
  t.equal(await putStatus(far, 'kitchen', password), 200)
  t.equal(await statusOf(`${far.url}${privateRead}`, { 'x-api-key': key }), 404)
  proxy.trouble.silent = true
  proxy.cut()
  await waitFor('the lease is over', async () => (await putStatus(far, 'kitchen', password)) === 503)
  t.equal(await statusOf(`${far.url}${privateRead}`, { 'x-api-key': key }), 503, 'a private read')
  t.equal(await statusOf(`${far.url}/v1/auth/me`, { authorization: `Bearer ${bearer}` }), 503, 'an account')
  t.equal((await far.admin('POST', '/devices', { name: 'roof' })).status, 503, 'a change by the local token')
  t.equal((await far.admin('GET', '/status')).status, 200, 'the state by the local token')
  const ready = await fetch(`${far.url}/health/ready`)
  t.equal(ready.status, 503)
  t.match(await ready.text(), /the lease of this node has expired/)
  t.equal(await putStatus(near, 'kitchen', password), 200, 'the others go on')
  const rotated = await near.admin('POST', '/devices/kitchen/rotate?now=1')
  const next = (rotated.body as { password: string }).password
  proxy.calm()
  await waitFor('the lease is back', async () => (await putStatus(far, 'kitchen', password)) !== 503)
  t.equal(await putStatus(far, 'kitchen', password), 401, 'what was revoked meanwhile')
  t.equal(await putStatus(far, 'kitchen', next), 200)
})

t.test('a node that was frozen for longer than its lease lets in nothing that was revoked meanwhile', async t => {
  const password = await one.addDevice('cellar')
  t.equal(await putStatus(other, 'cellar', password), 200)
  const pid = other.child.pid ?? 0
  freezeProcess(pid)
  t.equal((await one.admin('DELETE', '/devices/cellar')).status, 204)
  // These wait in the sockets of the frozen node.
  const asked = Array.from({ length: 5 }, () => putStatus(other, 'cellar', password))
  process.kill(pid, 'SIGCONT')
  for (const status of await Promise.all(asked)) t.ok(status === 503 || status === 401, `answered ${status}`)
})

t.test('after a restart of PostgreSQL the nodes have leases again', async t => {
  const password = await one.addDevice('garden')
  await cluster.postgres.restart()
  await waitFor('both have one', async () => {
    const ready = await Promise.all(
      [one, other].map(node => fetch(`${node.url}/health/ready`).then(answer => answer.text())),
    )
    return ready.every(text => !text.includes('lease'))
  })
  t.equal(await putStatus(other, 'garden', password), 200)
  await waitFor('changes are taken', async () => (await one.admin('DELETE', '/devices/garden')).status === 204)
  const refused = new Set<number>()
  await waitFor('the other one has a lease', async () => {
    const status = await putStatus(other, 'garden', password)
    refused.add(status)
    return status !== 503
  })
  t.ok(refused.has(401) && !refused.has(200), [...refused].join())
})

t.test('the local admin token is each node’s own, and no secret of SECRETS_DIR is made in DATA_DIR', async t => {
  const secrets = join(one.dataDirectory, 'secrets')
  t.match(readFileSync(join(secrets, 'admin-token'), 'utf8'), /^[0-9a-f]{64}\n$/)
  t.throws(() => readFileSync(join(secrets, 'token-secret')), { code: 'ENOENT' })
})

t.test('a service that is alone, and nodes with other settings or secrets, are refused beside nodes', async t => {
  await t.rejects(
    cluster.start({ ALONE: '1' }),
    /2 nodes of Barograph from 127\.0\.0\.1 use the PostgreSQL .* stop all nodes first/,
  )
  await t.rejects(
    cluster.start({ READS: 'open', RANGE_PRESSURE: '500..1200' }),
    /Other nodes on this PostgreSQL have other values of RANGE_PRESSURE, READS: give all nodes the same/,
  )
  await t.rejects(
    cluster.start({ SECRETS_DIR: makeSecrets(t) }),
    /other values of SERVICE_SECRET, SESSION_SECRETS, the secret csrf-secret/,
  )
  await t.rejects(
    cluster.start({ SECRETS_DIR: '/nowhere' }),
    /The secret \/nowhere\/[a-z-]+ is missing: make it with "openssl rand -hex 32"/,
  )
  await Promise.all([one, other].map(node => node.end('SIGTERM')))
  const changed = await cluster.start({ READS: 'open' })
  await changed.end('SIGKILL')
  const alone = await cluster.start({ ALONE: '1' })
  await t.rejects(
    cluster.start(),
    /Another Barograph from 127\.0\.0\.1 uses the PostgreSQL .* alone, not as a node: stop it first/,
  )
  await alone.end('SIGTERM')
})
