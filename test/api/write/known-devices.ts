/**
 * Bodies come one after the other over the same threads, while devices are renamed, removed, made again, given away and turned
 * off between them: each line becomes what the registry in memory has for its name at the time.
 */

import { Readable } from 'node:stream'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createFindKnown, resolveDevices } from '../../../api/write/resolve-devices.ts'
import { known } from '../../../api/write/resolve-fields.ts'
import { createSender } from '../../../api/write/sender.ts'
import type { Account } from '../../../auth/accounts/account.ts'
import type { Device } from '../../../auth/devices/device.ts'
import { DeviceMemory } from '../../../auth/devices/device-memory.ts'
import type { DeviceRow } from '../../../auth/devices/device-record.ts'
import { type CredentialWriter, createWriters, type WriterDevices } from '../../../auth/writers.ts'
import { createImporter } from '../../../ingest/import/import.ts'
import type { Append } from '../../../ingest/import/import-session.ts'
import { readingsIn } from '../../support/journal-parts.ts'
import { plainDevice } from '../../support/plain-device.ts'
import { runs } from '../../support/runs.ts'

const nowMs = Date.UTC(2026, 5, 1)
const startMs = Date.UTC(2026, 0, 1)
const owners = [1, 2] as const

/** All registries share these counts, as the threads live longer than each. */
let changes = 0
let numbers = 0

/** A registry, and who writes into it. */
function createRegistry() {
  const memory = new DeviceMemory()
  const devices: WriterDevices = {
    isCurrent: () => true,
    get: name => memory.get(name),
    byNumber: number => memory.byNumber(number),
    version: () => memory.version(),
    ownedBy: owner => memory.ownedBy(owner),
    authenticate: () => undefined,
    credentialCheck: () => () => true,
    add: () => Promise.reject(new Error('none is added by readings')),
  }
  const writers = createWriters(devices, { user: 100, administrator: 100, operator: 100 })
  const rowOf = (number: number, change: Partial<DeviceRow>): DeviceRow => ({
    ...{ ...plainDevice, number, symbol: `symbol-${number}`, location_short: '', location_desc: '', battery: false },
    ...{ latitude: null, longitude: null, owner: 1, metrics: null, tags: [], createdMs: 0, lastSeenMs: null },
    ...{ current: Buffer.alloc(32), next: null, graceEndsMs: null, nextUsed: false, removed: false },
    ...change,
    authSeq: ++changes,
  })
  const change = (name: string, by: Partial<DeviceRow>) => {
    const device = memory.get(name)
    if (device === undefined) return
    const { number, log_switch, owner } = device
    memory.apply(rowOf(number, { name, log_switch, owner, ...by }))
  }
  return {
    memory,
    make(name: string, owner: number) {
      if (memory.get(name) === undefined) memory.apply(rowOf(++numbers, { name, owner }))
    },
    remove: (name: string) => memory.remove(memory.get(name)?.number ?? 0),
    turn: (name: string) => change(name, { log_switch: !memory.get(name)?.log_switch }),
    give: (name: string, owner: number) => change(name, { owner }),
    /** Each gets the name of the other one. */
    swap(first: string, second: string) {
      const [a, b] = [memory.get(first), memory.get(second)]
      if (a === undefined || b === undefined || a === b) return
      change(first, { name: 'in between' })
      change(second, { name: first })
      change('in between', { name: second })
    },
    writer(account: number): CredentialWriter {
      const owner = { id: account, role: 'user' } as Account
      const key = { keyId: account, scopes: ['ingest' as const], createDevices: false }
      const principal = { kind: 'key' as const, account: owner, ...key }
      const writer = writers.ofPrincipal(principal, async () => principal)
      if (typeof writer === 'string') throw new Error(writer)
      return writer
    },
  }
}

type Registry = ReturnType<typeof createRegistry>

interface Sent {
  /** The numbers of the devices of the readings, in the order of lines. */
  stored: number[]
  rejects: { line: number; device: string | undefined; code: string }[]
}

type Send = (writer: CredentialWriter, names: readonly string[]) => Promise<Sent>

/** Sends bodies of CSV. `onAppend` is called before each chunk is stored. */
function createSend(t: Test, onAppend: () => void = () => {}): Send {
  let stored: number[] = []
  const append: Append = async records => {
    onAppend()
    stored.push(...numbersIn(records))
    return 'stored'
  }
  const limits = { chunkBytes: 512, lineBytesMax: 200 }
  const importer = createImporter({ kind: 'readings', append, now: () => nowMs, limits })
  t.teardown(() => importer.close())
  return async (writer, names) => {
    stored = []
    const sender = createSender(writer)
    const { report, failure } = await importer.run({
      body: Readable.from([Buffer.from(bodyOf(names))]),
      format: 'csv',
      async resolve(parts) {
        const asked = parts.map(([name = '']) => name)
        return known(await resolveDevices(asked, sender.writer()))
      },
      known: createFindKnown(sender.writer),
      refusal: async devices => {
        const refusal = await sender.refusal(devices as readonly Device[])
        return refusal && { code: 'DATABASE_AWAY', reason: refusal }
      },
    })
    if (failure !== undefined) throw new Error(failure.reason)
    return { stored, rejects: report.rejects.map(({ line, device, code }) => ({ line, device, code })) }
  }
}

function bodyOf(names: readonly string[]): string {
  const lines = names.map((name, at) => `${startMs + at},${name},${at % 80},50,1000\n`)
  return `timestamp,device,temperature,humidity,pressure\n${lines.join('')}`
}

function numbersIn(records: Uint8Array): number[] {
  return readingsIn(records).map(({ deviceNumber, symbol }) => {
    if (symbol !== `symbol-${deviceNumber}`) throw new Error(`device ${deviceNumber} has ${symbol}`)
    return deviceNumber
  })
}

/** What the registry makes of a body, whose first line is a header. */
function expectedOf(writer: CredentialWriter, names: readonly string[]): Sent {
  const sent: Sent = { stored: [], rejects: [] }
  for (const [at, name] of names.entries()) {
    const found = writer.find(name)
    if (typeof found === 'string') sent.rejects.push({ line: at + 2, device: name, code: found })
    else sent.stored.push(found.number)
  }
  return sent
}

const names = ['a', 'b', 'c', 'd', 'longer-name-of-a-device', 'grün']
const name = fc.constantFrom(...names)
type Change = (registry: Registry) => void
const changesOf: Record<string, (name: string, owner: number, other: string) => Change> = {
  make: (name, owner) => registry => registry.make(name, owner),
  remove: name => registry => registry.remove(name),
  'make anew': (name, owner) => registry => {
    registry.remove(name)
    registry.make(name, owner)
  },
  turn: name => registry => registry.turn(name),
  give: (name, owner) => registry => registry.give(name, owner),
  swap: (name, _owner, other) => registry => registry.swap(name, other),
}
const change = fc.record({
  kind: fc.constantFrom(...Object.keys(changesOf)),
  name,
  owner: fc.constantFrom(...owners),
  other: name,
})
const body = fc.record({
  changes: fc.array(change, { maxLength: 3 }),
  by: fc.constantFrom(...owners),
  names: fc.array(name, { minLength: 1, maxLength: 30 }),
})

t.test('each line becomes what the registry has for its name', async t => {
  const send = createSend(t)
  const property = fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 8 }), async bodies => {
    const registry = createRegistry()
    for (const name of names.slice(2)) registry.make(name, 1)
    for (const { changes, by, names } of bodies) {
      for (const { kind, name, owner, other } of changes) changesOf[kind]?.(name, owner, other)(registry)
      const expected = expectedOf(registry.writer(by), names)
      const sent = await send(registry.writer(by), names)
      if (JSON.stringify(sent) !== JSON.stringify(expected)) {
        throw new Error(`${JSON.stringify(sent)} in place of ${JSON.stringify(expected)}`)
      }
    }
  })
  await fc.assert(property, runs(50, 500))
  t.pass('for all')
})

t.test('when two devices exchange their names while a body comes in, the rest of it goes to the other one', async t => {
  const registry = createRegistry()
  registry.make('a', 1)
  registry.make('b', 1)
  let chunks = 0
  const send = createSend(t, () => {
    if (++chunks === 12) registry.swap('a', 'b')
  })
  const many = Array.from({ length: 200 }, () => 'a')
  const [a, b] = [registry.memory.get('a')?.number, registry.memory.get('b')?.number]
  t.strictSame(new Set((await send(registry.writer(1), many)).stored), new Set([a]))
  t.ok(chunks > 8 && chunks < 12, 'the exchange comes during the next body')
  const { stored } = await send(registry.writer(1), many)
  t.equal(stored.length, many.length)
  const first = stored.indexOf(b ?? 0)
  t.ok(first > 0)
  t.ok(stored.every((number, at) => number === (at < first ? a : b)))
})
