/** Publishing at an external broker in a separate process. */

import { fork } from 'node:child_process'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { generate, parser } from 'mqtt-packet'
import { type Test, test } from 'tap'
import { createBrokerPublisher } from '../../../ingest/mqtt/broker-session.ts'
import { connectClient } from '../../support/mqtt.ts'
import { messageOf } from '../../support/processes.ts'
import { waitFor } from '../../support/wait-for.ts'

async function startBroker(t: Test): Promise<string> {
  const child = fork(join(import.meta.dirname, '..', '..', 'support', 'mqtt-broker.ts'), { stdio: 'inherit' })
  t.teardown(() => child.kill())
  return `mqtt://127.0.0.1:${await messageOf<number>(child)}`
}

const signal = () => AbortSignal.timeout(60_000)

test('each message is there when it resolves, in order, retained where it is to be', async t => {
  const url = await startBroker(t)
  const publish = createBrokerPublisher({ url, protocolVersion: 4, clientId: 'barograph' })
  const listener = await connectClient(t, url)
  const got: string[] = []
  listener.on('message', (topic, payload) => got.push(`${topic} ${payload.toString().length}`))
  await listener.subscribeAsync('alerts/#', { qos: 1 })
  const messages = Array.from({ length: 300 }, (_, at) => ({
    topic: `alerts/home/${at % 7}`,
    payload: 'x'.repeat(1000 + at),
    retain: at >= 293,
  }))
  await publish(messages, signal())
  await waitFor('all have come', () => got.length === 300)
  const expected = messages.map(({ topic, payload }) => `${topic} ${payload.length}`)
  t.strictSame(got, expected)
  const late = await connectClient(t, url)
  const retained: string[] = []
  late.on('message', (topic, _payload, packet) => retained.push(`${topic} ${packet.retain}`))
  await late.subscribeAsync('alerts/#', { qos: 1 })
  await waitFor('what is retained has come', () => retained.length === 7)
  t.strictSame(new Set(retained), new Set([0, 1, 2, 3, 4, 5, 6].map(at => `alerts/home/${at} true`)))
  await Promise.all([1, 2, 3].map(() => publish(messages.slice(0, 10), signal())))
  await waitFor('those that were published at a time have come', () => got.length === 330)
})

test('version 5: a message that is acknowledged with a reason is there, one that is refused is not', async t => {
  const connections: number[] = []
  const server = createServer(socket => {
    const packets = parser({ protocolVersion: 5 })
    packets.on('packet', packet => {
      if (packet.cmd === 'connect') {
        connections.push(packet.protocolVersion ?? 0)
        socket.write(generate({ cmd: 'connack', reasonCode: 0, sessionPresent: false }, { protocolVersion: 5 }))
      }
      if (packet.cmd !== 'publish') return
      // No matching subscribers, or not authorized.
      const reasonCode = packet.topic === 'closed' ? 0x87 : 0x10
      socket.write(generate({ cmd: 'puback', messageId: packet.messageId ?? 0, reasonCode }, { protocolVersion: 5 }))
    })
    socket.on('data', chunk => packets.parse(chunk as Buffer))
    socket.on('error', () => undefined)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise(resolve => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  const publish = createBrokerPublisher({ url: `mqtt://127.0.0.1:${port}`, protocolVersion: 5, clientId: 'barograph' })
  const to = (topic: string) => [{ topic, payload: 'x', retain: false }]
  await publish(to('open'), signal())
  await t.rejects(publish(to('closed'), signal()), { code: 'MQTT_REFUSED' })
  t.strictSame(connections, [5, 5])
})

test('a broker that is away, refuses, sends nonsense or keeps silent: it rejects', async t => {
  const one = [{ topic: 'a', payload: 'b', retain: false }]
  const to = (url: string) => createBrokerPublisher({ url, protocolVersion: 4, clientId: 'barograph' })
  await t.rejects(to('mqtt://127.0.0.1:9')(one, signal()), { code: 'ECONNREFUSED' })
  const answers: [Buffer | undefined, { code: string } | { name: string } | { message: string }][] = [
    [Buffer.from([0x20, 2, 0, 5]), { code: 'MQTT_REFUSED' }],
    [Buffer.from([0x30, 2, 0, 0]), { message: 'unexpected packet type' }],
    [Buffer.from('SSH-2.0'), { message: 'unexpected packet type' }],
    [Buffer.from([0x20, 2, 0, 0, 0x40, 2, 0, 0]), { message: 'the packet identifier is zero' }],
    [undefined, { name: 'TimeoutError' }],
  ]
  for (const [answer, error] of answers) {
    const server = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => answer && socket.write(answer))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const limit = answer === undefined ? AbortSignal.timeout(50) : signal()
    await t.rejects(to(`mqtt://127.0.0.1:${port}`)(one, limit), error)
    await new Promise(resolve => server.close(resolve))
  }
})
