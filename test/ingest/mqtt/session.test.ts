/** What only time ends in a session. The clock is the test's: it says what time it is when the session is looked at. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { generate } from 'mqtt-packet'
import { type Test, test } from 'tap'
import { createWriters } from '../../../auth/writers.ts'
import { senderOf } from '../../../ingest/intake/rejection-source.ts'
import type { CloseReason } from '../../../ingest/mqtt/close-reasons.ts'
import { ByteBudget } from '../../../ingest/mqtt/packet-reader.ts'
import { MqttSession } from '../../../ingest/mqtt/session.ts'
import { perOwner } from '../../support/accounts.ts'
import { createIntakeParts, openRawMqtt } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { inWords, publish } from './mqtt-bytes.ts'

async function startSession(t: Test) {
  const parts = createIntakeParts()
  const closed: CloseReason[] = []
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const accepted = once(server, 'connection')
  /** Before the client did its last: the session cannot count from an earlier moment. */
  let sinceMs = performance.now()
  const client = await openRawMqtt(t, `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [socket] = (await accepted) as [Socket]
  const registry = { get: (name: string) => parts.devices.get(name), isCurrent: () => true } as never
  const writer = createWriters(registry, perOwner).ofTrustedBroker()
  const session = new MqttSession(socket, {
    ...parts,
    authenticate: async () => ({ id: 'any', sender: senderOf(writer), writer: () => writer }),
    budget: new ByteBudget(1_000_000),
    aliasBudget: new ByteBudget(1_000_000),
    senderLog() {},
    onOpen() {},
    onClosed: (_session, reason) => void closed.push(reason),
  })
  const check = (atMs: number) => {
    session.check(atMs)
    return closed
  }
  /** Looks at it as it is when at most so much time has gone by. */
  const checkWithin = (seconds: number) => check(sinceMs + seconds * 1000)
  /** As it will be in so much time. */
  const checkIn = (seconds: number) => check(performance.now() + seconds * 1000)
  function write(bytes: Buffer): void {
    sinceMs = performance.now()
    client.socket.write(bytes)
  }
  async function connect(keepalive: number, protocolVersion: 4 | 5 = 4): Promise<void> {
    const names = { cmd: 'connect', protocolId: 'MQTT', protocolVersion, clean: true, clientId: 'x' } as const
    write(generate({ ...names, keepalive }))
    await until('it is let in', () => inWords(client.received(), protocolVersion).at(-1) === 'connack')
  }
  return { ...client, ended: client.closed, journal: parts.journal, closed, checkWithin, checkIn, write, connect }
}

test('who does not connect is not waited for', async t => {
  const { checkWithin, checkIn } = await startSession(t)
  t.strictSame(checkWithin(9), [])
  t.strictSame(checkIn(10.1), ['timeout'])
})

test('a silent client is kept for one and a half times its keep-alive, and without one for an hour', async t => {
  for (const version of [4, 5] as const) {
    for (const keepAlive of [100, 0]) {
      const seconds = keepAlive === 0 ? 3600 : 150
      const { connect, checkWithin, checkIn, ended } = await startSession(t)
      await connect(keepAlive, version)
      t.strictSame(checkWithin(seconds - 1), [])
      t.strictSame(checkIn(seconds + 1), ['timeout'])
      t.equal(inWords(await ended, version).at(-1), version === 4 ? 'connack' : 'disconnect 0x8d')
    }
  }
})

test('a packet that has begun has to end', async t => {
  const { checkWithin, checkIn, connect, write, received } = await startSession(t)
  await connect(0)
  write(Buffer.concat([generate({ cmd: 'pingreq' }), Buffer.from([0x30, 0xff, 0x7f, 0])]))
  await until('the ping before it is answered', () => received().endsWith('d000'))
  t.strictSame(checkWithin(29), [])
  t.strictSame(checkIn(31), ['timeout'])
})

test('nobody is blamed for a silence while it is the journal that takes its time', async t => {
  const { checkIn, connect, socket, journal } = await startSession(t)
  await connect(10)
  journal.hold()
  socket.write(Buffer.concat(Array.from({ length: 100 }, () => publish(4, { qos: 0 }))))
  await until('no more can be taken', () => journal.waiting.length === 100)
  t.strictSame(checkIn(60), [])
  journal.settle('stored')
  await until('all are stored', () => journal.stored.length === 100)
  t.strictSame(checkIn(60), ['timeout'])
})

test('packets that are no readings may not be large, and none may come before CONNECT', async t => {
  const large = Buffer.from([0x00, 0xff, 0xff, 0x7f])
  for (const type of [0x10, 0x30, 0x82, 0xc0]) {
    const { socket, closed } = await startSession(t)
    large[0] = type
    socket.write(large)
    await until('it is closed', () => closed.length === 1)
    t.strictSame(closed, [type === 0x10 ? 'too_large' : 'protocol_error'], `type ${type}, not connected`)
  }
  for (const type of [0x62, 0x82, 0xa2, 0xc0, 0xe0, 0x20, 0x10]) {
    const { socket, closed, connect } = await startSession(t)
    await connect(0)
    large[0] = type
    socket.write(large)
    await until('it is closed', () => closed.length === 1)
    const isUnread = type === 0x20 || type === 0x10
    t.strictSame(closed, [isUnread ? 'protocol_error' : 'too_large'], `type ${type}, connected`)
  }
})
