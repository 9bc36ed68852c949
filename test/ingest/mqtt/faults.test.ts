/**
 * Faulty parts around a session: the process continues, the connection ends or answers as documented, only stored
 * readings are acknowledged, and no state remains. A failing run prints its seed.
 */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { generate } from 'mqtt-packet'
import { type Test, test } from 'tap'
import type { Device } from '../../../auth/devices/device.ts'
import type { Writer } from '../../../auth/writers.ts'
import { databaseAway, type Intake, type StoredReading } from '../../../ingest/intake/intake.ts'
import type { Refusal } from '../../../ingest/intake/refusal.ts'
import type { Credential } from '../../../ingest/mqtt/credentials.ts'
import { createConnections } from '../../../store/limits/connections.ts'
import { silentLog } from '../../support/databases.ts'
import { openRawMqtt, reading, startListener } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { runs } from '../../support/runs.ts'
import { inWords, publish } from './mqtt-bytes.ts'

/** How a part answers: at once, later, or not as it has promised to. */
const manners = ['well', 'late', 'rejects', 'throws'] as const
type Manner = (typeof manners)[number]

/** Outcomes of a reading and ways to create its device. */
const outcomes = ['stored', 'late', 'full', 'invalid', 'rejects', 'throws'] as const
const devices = ['there', 'made', 'made late', 'not now', 'rejects', 'throws', 'find throws'] as const

interface Message {
  qos: 0 | 1 | 2
  outcome: (typeof outcomes)[number]
  device: (typeof devices)[number]
}

interface Scenario {
  version: 4 | 5
  login: Manner
  refresh: Manner
  messages: Message[]
  /** How the client leaves: not before it has its answers, or without waiting. */
  leaves: 'waits' | 'ends' | 'destroys'
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  version: fc.constantFrom(4 as const, 5 as const),
  login: fc.constantFrom('well', 'well', ...manners),
  refresh: fc.constantFrom(...manners),
  messages: fc.array(
    fc.record({
      qos: fc.constantFrom(0 as const, 1 as const, 2 as const),
      outcome: fc.constantFrom('stored', 'stored', 'stored', ...outcomes),
      device: fc.constantFrom('there', 'there', 'there', ...devices),
    }),
    { maxLength: 6 },
  ),
  leaves: fc.constantFrom('waits', 'waits', 'ends', 'destroys'),
})

const atOnceMax = 12

const pause = () => new Promise<void>(resolve => setTimeout(resolve, 1))
const broken = () => new Error('broken on purpose')

function inManner<Value>(manner: Manner, value: Value): Promise<Value> {
  if (manner === 'throws') throw broken()
  if (manner === 'rejects') return Promise.reject(broken())
  return manner === 'late' ? pause().then(() => value) : Promise.resolve(value)
}

const sender = { name: 'key 1', isKnown: true }
const device = { number: 1, name: 'any', log_switch: true } as Device
const full: Refusal = { reason: 'full', code: 'STORAGE_FULL' }
const invalid: Refusal = { reason: 'invalid', code: 'PAYLOAD_INVALID' }

/** The parts of one scenario. Each message has a device of its own, whose name is the number of the message. */
class Parts {
  readonly scenario: Scenario
  readonly stored = new Set<number>()

  constructor(scenario: Scenario) {
    this.scenario = scenario
  }

  login(onWriter: (writer: Writer) => void): Promise<Credential> {
    const writer = this.#writer()
    onWriter(writer)
    const refresh = () => inManner(this.scenario.refresh, undefined)
    return inManner(this.scenario.login, { id: writer.id, sender, writer: () => writer, refresh })
  }

  #writer(): Writer {
    const made = new Set<string>()
    const wayOf = (name: string) => this.scenario.messages[Number(name)]?.device
    async function create(name: string) {
      const way = wayOf(name)
      if (way === 'rejects') throw broken()
      if (way === 'made late') await pause()
      if (way === 'not now') return 'later'
      made.add(name)
      return 'done'
    }
    return {
      device: undefined,
      id: 'key 1',
      mayCreateDevices: true,
      owner: null,
      find(name) {
        if (wayOf(name) === 'find throws') throw broken()
        return wayOf(name) === 'there' || made.has(name) ? device : 'DEVICE_UNKNOWN'
      },
      createDevices([name = '']) {
        if (wayOf(name) === 'throws') throw broken()
        return create(name)
      },
    }
  }

  take(number: number): ReturnType<Intake['take']> {
    const outcome = this.scenario.messages[number]?.outcome
    if (outcome === 'throws') throw broken()
    return outcome === 'invalid' ? invalid : this.#settle(number, outcome)
  }

  async #settle(number: number, outcome: Message['outcome'] | undefined): Promise<Refusal | StoredReading> {
    if (outcome === 'late') await pause()
    if (outcome === 'rejects') throw broken()
    if (outcome === 'full') return full
    this.stored.add(number)
    return { ignored: undefined, leftOut: [] }
  }
}

/** Whether the connection ends by this message. The journal is asked only if the device exists. */
function endsConnection({ qos, outcome, device }: Message): boolean {
  if (device === 'rejects' || device === 'throws' || device === 'find throws') return true
  if (device === 'not now') return qos > 0
  return outcome === 'rejects' || outcome === 'throws' || (outcome === 'full' && qos > 0)
}

const connectPacket = (protocolVersion: 4 | 5, username: string) =>
  generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion,
    clean: true,
    clientId: '',
    keepalive: 0,
    username,
    password: Buffer.from('any'),
  })
const messageFor = (version: 4 | 5, { qos }: Message, number: number) =>
  publish(version, { topic: `readings/${number}`, qos, id: number + 1, payload: reading(number) })

const unavailable = { 4: 'connack 0x3', 5: 'connack 0x88' }

/** The messages that were answered by PUBACK or PUBREC, with the code. */
function answersIn(lines: readonly string[]): { number: number; code: string | undefined }[] {
  const answers = lines.map(line => line.split(' ')).filter(([cmd]) => cmd === 'puback' || cmd === 'pubrec')
  return answers.map(([, id, code]) => ({ number: Number(id) - 1, code }))
}

/** Plays one scenario to the end of its connection. Throws on a violation. */
async function play(t: Test, url: string, parts: Parts, username: string): Promise<void> {
  const { version, messages, login, refresh, leaves } = parts.scenario
  const { socket, received, closed } = await openRawMqtt(t, url, connectPacket(version, username))
  const answers = () => answersIn(inWords(received(), version))
  socket.write(Buffer.concat(messages.map((message, number) => messageFor(version, message, number))))
  if (leaves === 'ends') socket.end()
  if (leaves === 'destroys') socket.destroy()
  const isLetIn = login === 'well' || login === 'late'
  const end = messages.findIndex(endsConnection)
  const expected = messages.flatMap(({ qos }, number) => (qos > 0 && (end === -1 || number < end) ? [number] : []))
  const isKept = isLetIn && end === -1 && (refresh === 'well' || refresh === 'late')
  if (leaves === 'waits' && isKept) {
    await until('all are acknowledged', () => answers().length === expected.length)
    socket.end()
  }
  // Else it is we who close it.
  await closed
  judge(parts, inWords(received(), version), { isKept, expected })
}

/** Throws on an unexpected answer. */
function judge(
  { scenario, stored }: Parts,
  lines: string[],
  { isKept, expected }: { isKept: boolean; expected: number[] },
) {
  const { version, messages, login, leaves } = scenario
  const answers = answersIn(lines)
  if (leaves === 'waits' && login === 'rejects') assert.deepEqual(lines, [unavailable[version]])
  if (leaves === 'waits' && version === 5 && !isKept) assert.match(lines.at(-1) ?? '', /^(connack|disconnect) 0x/)
  assert.deepEqual(
    answers.map(({ number }) => number),
    expected.slice(0, answers.length),
    'in their order, and none beyond the fault',
  )
  for (const { number, code } of answers) {
    const isInvalid = messages[number]?.outcome === 'invalid'
    assert.ok(isInvalid || stored.has(number), 'none that was not stored')
    assert.equal(code, isInvalid && version === 5 ? '0x99' : undefined)
  }
}

const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout' || name === 'Immediate').length
const events = ['unhandledRejection', 'uncaughtException', 'warning']

/** Collects uncaught errors from now on. */
function watchFaults(t: Test): unknown[] {
  const faults: unknown[] = []
  const note = (fault: unknown) => void faults.push(fault)
  for (const event of events) process.on(event, note)
  t.teardown(() => {
    for (const event of events) process.off(event, note)
  })
  return faults
}

test('whatever fails around a session, only its connection ends', async t => {
  const faults = watchFaults(t)
  let playing: Parts[] = []
  const byWriter = new WeakMap<Writer, Parts>()
  const { url, listener } = await startListener(t, {
    parts: {
      findCredential(username) {
        const parts = playing[Number(username)] as Parts
        return parts.login(writer => byWriter.set(writer, parts))
      },
      intake: {
        take: (writer, body) => (byWriter.get(writer) as Parts).take((body as { temperature: number }).temperature),
        async prepare(writer, body) {
          const made = await writer.createDevices([(body as { device: string }).device])
          return made === 'later' ? databaseAway : undefined
        },
      },
      // A slot that is not given back is missing soon.
      connections: createConnections({ max: 1000, perAddress: atOnceMax, isTrusted: () => false, log: silentLog }),
    },
  })
  // The timers of the wait itself count both before and afterwards.
  let timersBefore = 0
  await until('they are counted', () => {
    timersBefore = timers()
    return true
  })
  const property = fc.asyncProperty(fc.array(scenario, { minLength: 1, maxLength: atOnceMax }), async scenarios => {
    await until('those of before are gone', () => listener.sessions() === 0)
    playing = scenarios.map(each => new Parts(each))
    await Promise.all(playing.map((parts, index) => play(t, url, parts, String(index))))
  })
  await fc.assert(property, runs(6, 60))
  await until('every session is gone', () => listener.sessions() === 0)
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
