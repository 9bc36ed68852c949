/** Faulty parts around a session: the connection answers or ends as documented, and the process continues without a remaining state. */

import { generate } from 'mqtt-packet'
import { type Test, test } from 'tap'
import type { Device } from '../../../auth/devices/device.ts'
import type { Writer } from '../../../auth/writers.ts'
import { databaseAway, type Intake } from '../../../ingest/intake/intake.ts'
import type { Credential } from '../../../ingest/mqtt/credentials.ts'
import { createConnections } from '../../../store/limits/connections.ts'
import { silentLog } from '../../support/databases.ts'
import { openRawMqtt, reading, startListener } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { inWords, publish } from './mqtt-bytes.ts'

const broken = () => new Error('broken on purpose')
const fail = (how: string | undefined, name: string) => {
  if (how === `${name} throws`) throw broken()
  return how === `${name} rejects` ? Promise.reject(broken()) : Promise.resolve()
}
const device = { number: 1, name: 'any', log_switch: true } as Device

/** The first message fails in this way. The second one, of another device, is stored. */
function createParts(how: string, stored: number[]) {
  const isFirst = (name: string | undefined) => name === '1'
  const writer: Writer = {
    device: undefined,
    id: 'key 1',
    mayCreateDevices: true,
    owner: null,
    find(name) {
      if (how === 'find throws') throw broken()
      return isFirst(name) && how.startsWith('device') ? 'DEVICE_UNKNOWN' : device
    },
    async createDevices([name]) {
      if (!isFirst(name)) return 'done'
      await fail(how, 'device')
      return how === 'device later' ? 'later' : 'done'
    },
  }
  const credential: Credential = {
    id: writer.id,
    sender: { name: 'key 1', isKnown: true },
    writer: () => writer,
    refresh: () => fail(how, 'refresh'),
  }
  const take = async (number: number): Promise<Awaited<ReturnType<Intake['take']>>> => {
    if (number === 1) await fail(how, 'store')
    if (number === 1 && how === 'full') return { reason: 'full', code: 'STORAGE_FULL' }
    if (number === 1 && how === 'invalid') return { reason: 'invalid', code: 'PAYLOAD_INVALID' }
    stored.push(number)
    return { ignored: undefined, leftOut: [] }
  }
  return { writer, take, login: () => fail(how, 'login').then(() => credential) }
}

const connectPacket = (protocolVersion: 4 | 5, username: string) =>
  generate({
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion, clean: true, clientId: '', keepalive: 0, username },
    password: Buffer.from('any'),
  })

const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout' || name === 'Immediate').length

/** Collects uncaught errors from now on. */
function watchFaults(t: Test): unknown[] {
  const faults: unknown[] = []
  const note = (fault: unknown) => void faults.push(fault)
  const events = ['unhandledRejection', 'uncaughtException', 'warning']
  for (const event of events) process.on(event, note)
  t.teardown(() => {
    for (const event of events) process.off(event, note)
  })
  return faults
}

const acknowledged = ['connack', 'puback 1', 'puback 2']
const secondAlone = ['connack', 'puback 2']
type Row = [how: string, qos: 0 | 1 | 2, of311: string[], of5: string[], stored: number[]]
const rows: Row[] = [
  ['login rejects', 1, ['connack 0x3'], ['connack 0x88'], []],
  ['login throws', 1, ['connack 0x3'], ['connack 0x88'], []],
  ['refresh rejects', 1, acknowledged, [...acknowledged, 'disconnect 0x89'], [1, 2]],
  ['refresh throws', 1, acknowledged, [...acknowledged, 'disconnect 0x80'], [1, 2]],
  ['find throws', 1, ['connack'], ['connack', 'disconnect 0x80'], []],
  ['device rejects', 1, ['connack'], ['connack', 'disconnect 0x80'], []],
  ['device throws', 0, ['connack'], ['connack', 'disconnect 0x80'], []],
  ['device later', 0, secondAlone, secondAlone, [2]],
  ['device later', 1, ['connack'], ['connack', 'disconnect 0x89'], []],
  ['store rejects', 1, ['connack'], ['connack', 'disconnect 0x80'], []],
  ['store throws', 0, ['connack'], ['connack', 'disconnect 0x80'], []],
  ['full', 0, secondAlone, secondAlone, [2]],
  ['full', 1, ['connack'], ['connack', 'disconnect 0x97'], []],
  ['full', 2, ['connack'], ['connack', 'disconnect 0x97'], []],
  ['invalid', 1, acknowledged, ['connack', 'puback 1 0x99', 'puback 2'], [2]],
  ['well', 2, ['connack', 'pubrec 1', 'puback 2'], ['connack', 'pubrec 1', 'puback 2'], [1, 2]],
]

test('whatever fails around a session, only its connection ends', async t => {
  const faults = watchFaults(t)
  let [parts, stored] = [createParts('well', []), [] as number[]]
  const { url, listener } = await startListener(t, {
    parts: {
      findCredential: () => parts.login(),
      intake: {
        take: (_writer, body) => parts.take((body as { temperature: number }).temperature),
        async prepare(writer, body) {
          const made = await writer.createDevices([(body as { device: string }).device])
          return made === 'later' ? databaseAway : undefined
        },
      },
      // A slot that is not given back is missing for the next connection.
      connections: createConnections({ max: 1000, perAddress: 2, isTrusted: () => false, log: silentLog }),
    },
  })
  let timersBefore = 0
  await until('they are counted', () => {
    timersBefore = timers()
    return true
  })
  for (const [how, qos, of311, of5, storedWanted] of rows) {
    for (const [version, wanted] of [
      [4, of311],
      [5, of5],
    ] as const) {
      stored = []
      parts = createParts(how, stored)
      const { socket, received, closed } = await openRawMqtt(t, url, connectPacket(version, 'any'))
      const message = (id: number, qos: 0 | 1 | 2) =>
        publish(version, { topic: `readings/${id}`, qos, id, payload: reading(id) })
      socket.write(Buffer.concat([message(1, qos), message(2, 1)]))
      const isAnswered = () => inWords(received(), version).length === wanted.length
      await until('all is answered', isAnswered)
      socket.end()
      t.strictSame(
        [inWords(await closed, version), stored],
        [wanted, storedWanted],
        `${how}, QoS ${qos}, version ${version}`,
      )
      await until('the session is gone', () => listener.sessions() === 0)
    }
  }
  await until('every timer is gone', () => timers() <= timersBefore)
  t.strictSame(faults, [])
})
test('a client whose failed attempt cannot be counted gets a server error', async t => {
  const faults = watchFaults(t)
  const { url, listener } = await startListener(t, {
    parts: {
      findCredential: async () => 'unauthorized',
      authRateLimit: {
        isExceeded() {
          throw broken()
        },
      },
    },
  })
  for (const [version, answers] of [
    [4, []],
    [5, ['connack 0x80']],
  ] as const) {
    const { closed } = await openRawMqtt(t, url, connectPacket(version, 'any'))
    t.strictSame(inWords(await closed, version), answers)
  }
  await until('every session is gone', () => listener.sessions() === 0)
  t.strictSame(faults, [])
})
