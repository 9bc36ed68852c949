/** Senders that come to several nodes of one service: MQTT sessions, and limits that the nodes share. */

import { connectAsync, type IDisconnectPacket, type MqttClient } from 'mqtt'
import t, { type Test } from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { eventOf, reading } from '../support/mqtt.ts'
import { openCluster } from '../support/nodes.ts'
import { basic, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const attemptsMax = 20
const cluster = await openCluster(t)

async function startNode(): Promise<Service & { mqtt: string }> {
  const port = await freePort()
  const service = await cluster.start({ MQTT_PORT: String(port), FAILED_ATTEMPTS: String(attemptsMax) })
  return { ...service, mqtt: `mqtt://127.0.0.1:${port}` }
}

const [one, other] = await Promise.all([startNode(), startNode()])
const passwords = new Map<string, string>()
for (const name of ['porch', 'barn']) passwords.set(name, await one.addDevice(name))

async function connect(t: Test, url: string, name: string, protocolVersion: 4 | 5 = 5): Promise<MqttClient> {
  const password = passwords.get(name) ?? ''
  const client = await connectAsync(url, {
    clientId: 'same',
    username: name,
    password,
    protocolVersion,
    reconnectPeriod: 0,
  })
  client.on('error', () => undefined)
  t.teardown(() => void client.end(true))
  return client
}

t.test('of two sessions of one client at two nodes the later one stays', async t => {
  const foreign = await connect(t, one.mqtt, 'barn')
  let current = await connect(t, one.mqtt, 'porch')
  for (const [node, version] of [
    [other, 5],
    [one, 4],
    [other, 4],
    [one, 5],
  ] as const) {
    const before = current
    const told = new Promise<IDisconnectPacket>(resolve => before.once('disconnect', resolve))
    const [is5, ended] = [before.options.protocolVersion === 5, eventOf(before, 'close')]
    current = await connect(t, node.mqtt, 'porch', version)
    await ended
    if (is5) t.equal((await told).reasonCode, 0x8e, 'session taken over')
  }
  await current.publishAsync('readings/porch', reading(20), { qos: 1 })
  t.ok(current.connected, 'the last one')
  t.ok(foreign.connected, 'a client of the same identifier with another credential')
})

async function failing(node: Service): Promise<number> {
  const headers = { authorization: basic('porch', 'wrong') }
  const response = await fetch(`${node.url}/api/log`, { method: 'PUT', headers })
  await response.arrayBuffer()
  return response.status
}

/** How many attempts fail until they are refused, within a bound. */
async function attemptsOf(node: Service): Promise<number> {
  let count = 0
  while (count < 3 * attemptsMax && (await failing(node)) === 401) count++
  return count
}

t.test(
  'each node lets through its part of what an address may fail, and no new part when another one ends',
  async t => {
    // A third of a token comes back each second, half of it at each of two nodes.
    const aPart = (count: number) => count >= attemptsMax / 2 && count < attemptsMax
    t.ok(aPart(await attemptsOf(one)))
    t.ok(aPart(await attemptsOf(other)))
    await other.end('SIGTERM')
    const counted = async () => /^barograph_nodes 1$/m.test(await (await fetch(`${one.url}/metrics`)).text())
    await waitFor('the other one has left', counted)
    t.ok((await attemptsOf(one)) < attemptsMax / 2)
  },
)
