/**
 * Bodies that come one after the other over the same threads, while devices are renamed, removed, made again, given away and turned
 * off between them: each line becomes what the registry says of its name at the time. On a real registry in memory.
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
import { defaultLineNames } from '../../../ingest/formats/line-protocol-names.ts'
import type { Format } from '../../../ingest/formats/line-reader.ts'
import type { Reject } from '../../../ingest/formats/reject.ts'
import { createImporter } from '../../../ingest/import/import.ts'
import type { Append } from '../../../ingest/import/import-session.ts'
import { createLineImporter } from '../../../ingest/import/line-protocol-import.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { readReading } from '../../support/journal-parts.ts'

const nowMs = Date.UTC(2026, 5, 1)
const startMs = Date.UTC(2026, 0, 1)
const owners = [1, 2] as const

/** Of all registries, as the threads live longer than each. */
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
    number,
    name: '',
    symbol: `symbol-${number}`,
    location_short: '',
    location_desc: '',
    log_switch: true,
    battery: false,
    altitude_m: null,
    latitude: null,
    longitude: null,
    expected_interval_seconds: null,
    owner: 1,
    quality_limits: null,
    profile: 'none',
    battery_type: null,
    battery_cells: null,
    metrics: null,
    tags: [],
    createdMs: 0,
    lastSeenMs: null,
    current: Buffer.alloc(32),
    next: null,
    graceEndsMs: null,
    nextUsed: false,
    removed: false,
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
      const principal = {
        kind: 'key' as const,
        account: { id: account, role: 'user' } as Account,
        keyId: account,
        scopes: ['ingest' as const],
        createDevices: false,
      }
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

const shortened = ({ line, device, code }: Reject) => ({ line, device, code })

/** What is stored by bodies of CSV or NDJSON. `onAppend` is called before each chunk is stored. */
function createBulkSend(t: Test, format: Format, onAppend: () => void = () => {}): Send {
  let stored: number[] = []
  const append: Append = async records => {
    onAppend()
    stored.push(...numbersIn(records))
    return 'stored'
  }
  const importer = createImporter({
    kind: 'readings',
    append,
    now: () => nowMs,
    limits: { chunkBytes: 512, lineBytesMax: 200 },
  })
  t.teardown(() => importer.close())
  return async (writer, names) => {
    stored = []
    const sender = createSender(writer)
    const { report, failure } = await importer.run({
      body: Readable.from([Buffer.from(bodyOf(format, names))]),
      format,
      resolve: async parts => {
        return known(
          await resolveDevices(
            parts.map(([name = '']) => name),
            sender.writer(),
          ),
        )
      },
      known: createFindKnown(sender.writer),
      refusal: async devices => {
        const refusal = await sender.refusal(devices as readonly Device[])
        return refusal && { code: 'DATABASE_AWAY', reason: refusal }
      },
    })
    if (failure !== undefined) throw new Error(failure.reason)
    return { stored, rejects: report.rejects.map(shortened) }
  }
}

function bodyOf(format: Format, names: readonly string[]): string {
  if (format === 'csv') {
    const lines = names.map((name, at) => `${startMs + at},${name},${at % 80},50,1000\n`)
    return `timestamp,device,temperature,humidity,pressure\n${lines.join('')}`
  }
  const objects = names.map((device, at) => ({
    timestamp: startMs + at,
    device,
    temperature: at % 80,
    humidity: 50,
    pressure: 1000,
  }))
  return objects.map(object => `${JSON.stringify(object)}\n`).join('')
}

function createLinesSend(t: Test): Send {
  let stored: number[] = []
  const importer = createLineImporter({
    ingest: {
      append: async records => {
        stored.push(...numbersIn(records))
        return 'stored'
      },
      stampUs: () => nowMs * 1000,
      term: () => 0,
      clockUs: () => nowMs * 1000,
      status: () => ({ journal: { bytes: 0, bytesMax: 1e9 } }) as never,
    },
    names: defaultLineNames,
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    bodyBytesMax: 1e6,
  })
  t.teardown(() => importer.close())
  return async (writer, names) => {
    stored = []
    const sender = createSender(writer)
    // Some devices write in two series.
    const lines = names.map((name, at) => `w${at % 2},device=${name} temperature=${at % 80} ${startMs + at}\n`)
    const result = await importer.run({
      bytes: Uint8Array.from(Buffer.from(lines.join(''))),
      isGzip: false,
      precision: 'ms',
      deviceDefault: undefined,
      resolve: asked => resolveDevices(asked, sender.writer()),
      known: createFindKnown(sender.writer),
      refusal: async devices =>
        (await sender.refusal(devices as readonly Device[])) === undefined ? undefined : 'later',
    })
    if (result.kind !== 'stored') throw new Error(result.kind)
    return { stored, rejects: result.rejects.map(shortened) }
  }
}

function numbersIn(records: Uint8Array): number[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const numbers: number[] = []
  for (let offset = 0; offset < view.byteLength; offset += view.getUint16(offset, true)) {
    const { deviceNumber, symbol } = readReading(view, offset)
    if (symbol !== `symbol-${deviceNumber}`) throw new Error(`device ${deviceNumber} has ${symbol}`)
    numbers.push(deviceNumber)
  }
  return numbers
}

/** By the registry alone. `linesBefore`: of a header. `isOnce`: of each device only its first line is told of, the first ten at most. */
function expectedOf(writer: CredentialWriter, names: readonly string[], linesBefore: number, isOnce: boolean): Sent {
  const sent: Sent = { stored: [], rejects: [] }
  for (const [at, name] of names.entries()) {
    const found = writer.find(name)
    if (typeof found !== 'string') sent.stored.push(found.number)
    else if (!isOnce || names.indexOf(name) === at) {
      sent.rejects.push({ line: at + 1 + linesBefore, device: name, code: found })
    }
  }
  if (isOnce) sent.rejects.splice(10)
  return sent
}

const names = ['a', 'b', 'c', 'd', 'longer-name-of-a-device', 'grün']
const name = fc.constantFrom(...names)
const change = fc.oneof(
  fc.record({ kind: fc.constant('make' as const), name, owner: fc.constantFrom(...owners) }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('make anew' as const), name, owner: fc.constantFrom(...owners) }),
  fc.record({ kind: fc.constant('turn' as const), name }),
  fc.record({ kind: fc.constant('give' as const), name, owner: fc.constantFrom(...owners) }),
  fc.record({ kind: fc.constant('swap' as const), name, other: name }),
)
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never
const body = fc.record({
  changes: fc.array(change, { maxLength: 3 }),
  by: fc.constantFrom(...owners),
  names: fc.array(name, { minLength: 1, maxLength: 30 }),
})

function happen(registry: Registry, change: Change): void {
  switch (change.kind) {
    case 'make anew':
      registry.remove(change.name)
      registry.make(change.name, change.owner)
      break
    case 'make':
      registry.make(change.name, change.owner)
      break
    case 'remove':
      registry.remove(change.name)
      break
    case 'turn':
      registry.turn(change.name)
      break
    case 'give':
      registry.give(change.name, change.owner)
      break
    case 'swap':
      registry.swap(change.name, change.other)
  }
}

for (const format of ['csv', 'ndjson', 'line protocol'] as const) {
  t.test(`${format}: each line becomes what the registry says of its name`, async t => {
    const isLines = format === 'line protocol'
    const send = isLines ? createLinesSend(t) : createBulkSend(t, format)
    const property = fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 8 }), async bodies => {
      const registry = createRegistry()
      for (const name of names.slice(2)) registry.make(name, 1)
      for (const { changes, by, names } of bodies) {
        for (const change of changes) happen(registry, change)
        const expected = expectedOf(registry.writer(by), names, format === 'csv' ? 1 : 0, isLines)
        const sent = await send(registry.writer(by), names)
        if (JSON.stringify(sent) !== JSON.stringify(expected)) {
          throw new Error(`${JSON.stringify(sent)} in place of ${JSON.stringify(expected)}`)
        }
      }
    })
    await fc.assert(property, { numRuns: 50 })
    t.pass('for all')
  })
}

t.test('names that two devices exchange while a body comes in are those of the other one from then on', async t => {
  const registry = createRegistry()
  registry.make('a', 1)
  registry.make('b', 1)
  let chunks = 0
  const send = createBulkSend(t, 'csv', () => {
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
