/**
 * Two processes that take requests and two that forward, with topics of one broker as their journals: each shows what both have
 * taken, and another one goes on where one is killed.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { basicOf } from '../support/air-quality.ts'
import { createEventSource } from '../support/event-source.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import { makePerson } from '../support/people.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const cluster = await openKafkaNodes(t)
const nodes = [await cluster.start('api'), await cluster.start('api')] as const
const [one, other] = nodes
const password = await one.addDevice('porch')
const sinceStart = `start=${new Date().toISOString()}`

const put = async (node: Service, device: string, secret: string, temperature: number) =>
  (await node.put(device, secret, { device, temperature, humidity: 50, pressure: 1000 })).status

async function temperatures({ url }: Service): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${sinceStart}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

/** Of a process, whether it has the lock of the replica. */
async function isHeld({ url, dataDirectory }: Service): Promise<string | undefined> {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  return /^barograph_forwarder_held (\d)$/m.exec(await response.text())?.[1]
}

let holder: Service
let standby: Service

t.test('before anything is forwarded, the event of a reading is sent by both nodes, in one order', async t => {
  t.match(await one.admin('GET', '/status'), { body: { questdb: { fault: 'no forwarder has begun' } } })
  for (const { url } of nodes) {
    await waitFor('the fleet is loaded', async () => (await fetch(`${url}/api/fleet`)).status === 200)
  }
  const sources = [createEventSource(), createEventSource()] as const
  t.teardown(() => {
    for (const source of sources) source.close()
  })
  for (const [at, source] of sources.entries()) await source.connect(nodes[at as 0 | 1])
  for (const value of [1, 2, 3, 4]) t.equal(await put(nodes[value % 2] as Service, 'porch', password, value), 200)
  for (const { heard } of sources) {
    const values = () => heard.flatMap(({ event, data }) => (event === 'reading' ? data.values['temperature'] : []))
    await waitFor('all are sent', () => values().length >= 4)
    t.strictSame(values(), [1, 2, 3, 4], 'each once')
  }
})

t.test('of two forwarders one has the replica, and both nodes show what it forwards', async t => {
  holder = await cluster.start('forward')
  for (const node of nodes) await waitFor('all are shown', async () => (await temperatures(node)) === '1,2,3,4')
  standby = await cluster.start('forward')
  t.strictSame([await isHeld(holder), await isHeld(standby)], ['1', '0'])
  await waitFor('it is ready', async () => (await fetch(`${standby.url}/health/ready`)).status === 200)
  t.equal((await fetch(`${standby.url}/api/fleet`)).status, 404, 'it takes no requests')
})

t.test('points of a station that one node has taken are known to both', async t => {
  const { id } = await makePerson(one, { role: 'administrator' })
  const { body } = await one.admin('POST', '/keys', { account: id, name: 'k', scopes: ['read', 'ingest'] })
  t.equal((await one.admin('POST', '/stations', { sn: 'S-1', model: 'M1', owner: id })).status, 201)
  const sent = await fetch(`${one.url}/api/v1.0/device/S-1/data/`, {
    method: 'POST',
    headers: { authorization: basicOf((body as { key: string }).key), 'content-type': 'application/json' },
    body: JSON.stringify([
      { parameter: 'no2', unit: 'ppb', timestamp: new Date().toISOString().slice(0, 19), value: 1 },
    ]),
  })
  t.equal(sent.status, 201)
  const lastData = async ({ admin }: Service) =>
    ((await admin('GET', '/stations/S-1')).body as { last_data_at: string | null }).last_data_at
  for (const node of nodes) await waitFor('it is known', async () => (await lastData(node)) !== null)
})

t.test('when the forwarder and a node are killed others take over, and nothing goes with them', async t => {
  const gone = await one.addDevice('gone')
  t.equal(await put(one, 'gone', gone, 5), 200)
  await holder.end('SIGKILL')
  t.equal(await put(one, 'porch', password, 5), 200)
  await one.end('SIGKILL')
  t.equal(await put(other, 'porch', password, 6), 200)
  await waitFor('all are shown', async () => (await temperatures(other)) === '1,2,3,4,5,6')
  t.equal(await isHeld(standby), '1')

  interface NodeStates {
    nodes: { is_self: boolean; leads: boolean }[]
  }
  await waitFor('the other node leads', async () => {
    const { body } = await other.admin('GET', '/status')
    return (body as NodeStates).nodes.some(({ is_self, leads }) => is_self && leads)
  })
  await waitFor('changes are taken', async () => (await other.admin('DELETE', '/devices/gone')).status === 204)
  t.match(await other.admin('POST', '/devices/gone/erase'), { status: 202 })
  const erased = async () => ((await other.admin('GET', '/devices/gone/erase')).body as { state: string }).state
  await waitFor('the job of the node that leads is done', async () => (await erased()) === 'done')
  t.equal(await temperatures(other), '1,2,3,4,5,6')
})
