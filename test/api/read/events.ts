/** Server-sent events: every reading once and in order, resumption, slow clients. The readings are generated. */

import { once } from 'node:events'
import fc from 'fast-check'
import { Registry } from 'prom-client'
import { type Test, test } from 'tap'
import type { Json } from '../../../api/docs/contract.ts'
import { type EventsOptions, eventsGroup } from '../../../api/read/events/events.ts'
import type { Subscription } from '../../../query/live/events/event-client.ts'
import { EventHub, type HubOptions } from '../../../query/live/events/event-hub.ts'
import { type ChangedAlert, EventCursors } from '../../../query/live/events/event-text.ts'
import type { ReadingGroup } from '../../../query/live/events/reading-ring.ts'
import { createEventMeter } from '../../../service/meters.ts'
import { createContractChecker } from '../../support/contract.ts'
import { silentLog } from '../../support/databases.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { published } from '../../support/published.ts'
import { openRaw } from '../../support/raw-connection.ts'
import { runs } from '../../support/runs.ts'
import { waitFor } from '../../support/wait-for.ts'
import { serveGroups } from '../serve-groups.ts'

const cursors = new EventCursors('a run')
/** Each cursor begins with it. */
const [run] = cursors.text(0).split('-')
const meterNames = ['barograph_event_clients', 'barograph_events_sent_total', 'barograph_event_clients_dropped_total']
const names = ['porch', 'attic', 'Küche "1"']

interface Made {
  device: number
  value: number
  /** Values without a column, by series. */
  custom?: Record<number, number>
}

let timeUs = 1_780_000_000_000_000

function stored(made: readonly Made[]): ReadingGroup {
  let at = -1
  const startUs = timeUs
  timeUs += made.length * 1000
  return {
    count: made.length,
    next: () => ++at < made.length,
    get series() {
      return (made[at] as Made).device
    },
    get timeUs() {
      return startUs + at * 1000
    },
    value: column => (column === 0 ? (made[at] as Made).value : Number.NaN),
    get customCount() {
      return Object.keys(made[at]?.custom ?? {}).length
    },
    customSeries: place => Number(Object.keys(made[at]?.custom ?? {})[place]),
    customValue: place => Object.values(made[at]?.custom ?? {})[place] as number,
  }
}

interface SentEvent {
  id: string | undefined
  event: string
  data: { device: string; ts: number; values: { temperature: number }; state: string }
}

/** Parses blocks like the `EventSource` of a browser. */
function eventsIn(text: string): SentEvent[] {
  return text.split('\n\n').flatMap(block => {
    const fields = block.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
    const { id, event, data } = Object.fromEntries(fields)
    return data === undefined ? [] : [{ id, event, data: JSON.parse(data) }]
  })
}

function open(t: Test, options: Partial<HubOptions> = {}) {
  const clock = { ms: 0 }
  const registry = new Registry()
  const hub = new EventHub({
    cursors,
    windowMs: 300_000,
    windowBytes: 1024 ** 2,
    nameOf: (number: number) => names[number],
    tickMs: 1,
    ownerOf: () => undefined,
    nowMs: () => clock.ms,
    meter: createEventMeter(registry),
    failed: (error: unknown) => t.fail(String(error)),
    ...options,
  })
  t.teardown(() => hub.close())
  /** Clients, events sent, clients dropped. */
  const metered = async () =>
    Promise.all(meterNames.map(async name => (await registry.getSingleMetric(name)?.get())?.values[0]?.value))
  return { hub, clock, metered }
}

interface Listening {
  devices?: readonly number[]
  owner?: number
  isTagged?: (device: number) => boolean
  statesOnly?: boolean
  alerts?: Subscription['alerts']
  last?: string
}

function listen(hub: EventHub, asked: Listening = {}) {
  const { devices, owner, isTagged, statesOnly = false, alerts, last } = asked
  const nothing: () => void = () => undefined
  const client = { chunks: [] as Buffer[], takes: true, isDestroyed: false, drain: nothing }
  const sink = {
    write: (bytes: Buffer) => client.chunks.push(bytes) > 0 && client.takes,
    onDrained(drained: () => void) {
      client.drain = drained
    },
    destroy() {
      client.isDestroyed = true
    },
  }
  const subscription = { devices: devices && new Set(devices), owner, isTagged, statesOnly, alerts }
  const leave = hub.subscribe(sink, subscription, last)
  const text = () => Buffer.concat(client.chunks).toString()
  const events = () => eventsIn(text())
  const values = () => events().flatMap(({ event, data }) => (event === 'reading' ? [data.values.temperature] : []))
  const lastId = () => [...text().matchAll(/^id: (.+)$/gm)].at(-1)?.[1]
  /** The data of the events of one kind. */
  const dataOf = (kind: string) => events().flatMap(({ event, data }) => (event === kind ? [data] : []))
  return { client, leave, text, events, values, lastId, dataOf }
}

const hasValues = (client: ReturnType<typeof listen>, count: number) =>
  waitFor(`${count} readings are sent`, () => client.values().length === count)
const hasEvents = (client: ReturnType<typeof listen>, count: number) =>
  waitFor(`${count} events are sent`, () => client.events().length === count)

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)
/** Readings of the three devices in rotation. */
const inTurns = (values: readonly number[]): Made[] => values.map(value => ({ device: value % 3, value }))

test('values without a column have the names of their metrics, in the memory of the window', async t => {
  const windowBytes = 60 * 400
  const metricOf = (device: number, series: number) => (series === 9 ? undefined : `m${device}_${series}`)
  const { hub } = open(t, { metricOf, windowBytes })
  const early = listen(hub)
  hub.store(stored([{ device: 0, value: 1 }]))
  hub.store(stored([{ device: 1, value: 2, custom: { 7: 0.5, 8: -1, 9: 3 } }]))
  await hasValues(early, 2)
  const values = early.dataOf('reading').map(data => data.values)
  t.strictSame(values, [{ temperature: 1 }, { temperature: 2, m1_7: 0.5, m1_8: -1 }], 'the earlier reading stays')
  const last = early.lastId() ?? ''
  const of = (value: number) => ({ 1: value, 2: -value, 3: value / 2, 4: 0, 5: 1, 6: 2, 7: 3, 8: 4 })
  const store = (from: number, to: number) =>
    hub.store(stored(numbers(to - from, from).map(value => ({ device: value % 3, value, custom: of(value) }))))
  store(10, 60)
  await hasValues(early, 52)
  const again = listen(hub, { last })
  await hasValues(again, 50)
  for (const [index, { device, values }] of again.dataOf('reading').entries()) {
    const prefix = `m${names.indexOf(device)}_`
    const custom = Object.entries(of(index + 10)).map(([series, value]) => [prefix + series, value])
    t.strictSame(values, { temperature: index + 10, ...Object.fromEntries(custom) })
  }
  for (let from = 60; from < 400; from += 50) {
    store(from, from + 50)
    await hasValues(early, from + 42)
  }
  const late = listen(hub, { last })
  await waitFor('it is reset', () => late.text().includes('event: reset'))
  t.strictSame(late.values(), [], 'readings that are gone are not sent')
})

test('each client gets the requested events, in order and in shared bytes', async t => {
  const { hub } = open(t)
  const [first, second] = [listen(hub), listen(hub)]
  const some = listen(hub, { devices: [0, 2] })
  const one = listen(hub, { devices: [1] })
  const states = listen(hub, { statesOnly: true })
  for (const part of [numbers(700), numbers(300, 700)]) {
    hub.store(stored(inTurns(part)))
    await hasValues(first, part.length + (part[0] ?? 0))
  }
  await hasValues(some, 667)
  const all = numbers(1000)
  t.strictSame(first.values(), all)
  t.ok(first.client.chunks.slice(1).every((chunk, index) => chunk === second.client.chunks[index + 1]))
  const [ofSome, ofOne] = [all.filter(value => value % 3 !== 1), all.filter(value => value % 3 === 1)]
  t.strictSame(some.values(), ofSome)
  t.strictSame(one.values(), ofOne)
  t.strictSame(states.events(), [])
})

test('a client that resumes with its last cursor gets the rest, from any position', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 0, max: 3 }),
      fc.constantFrom(undefined, [1], [0, 2]),
      async (groups, cut, devices) => {
        const { hub } = open(t)
        const asked = devices === undefined ? {} : { devices }
        let client = listen(hub, asked)
        const got: number[] = []
        let sent = 0
        for (const [index, length] of groups.entries()) {
          if (index === cut) {
            client.leave()
            got.push(...client.values())
          }
          hub.store(stored(inTurns(numbers(length, sent))))
          sent += length
        }
        const last = client.lastId()
        client.leave()
        if (cut >= groups.length) got.push(...client.values())
        client = listen(hub, { ...asked, ...(last === undefined ? {} : { last }) })
        const of: readonly number[] = devices ?? [0, 1, 2]
        const wanted = numbers(sent).filter(value => of.includes(value % 3))
        await waitFor('the rest is sent', () => got.length + client.values().length >= wanted.length)
        t.strictSame([...got, ...client.values()], wanted)
        hub.close()
      },
    ),
    runs(10, 100),
  )
})

test('a cursor that is too old, overwritten or of another run gets a reset', async t => {
  const { hub, clock } = open(t)
  const stays = listen(hub)
  hub.store(stored(inTurns(numbers(10))))
  await hasValues(stays, 10)
  const resets = async (last: string, wanted: boolean) => {
    const client = listen(hub, { last })
    t.equal(client.events()[0]?.event === 'reset', wanted, last)
    client.leave()
  }
  await resets(`${run}-3`, false)
  await resets(`${run}-10`, false)
  await resets(`${run}-11`, true)
  const others = [
    'fedcba9876543210-3',
    '',
    'x',
    run ?? '',
    `${run}-`,
    `${run}--1`,
    `${run}-1.5`,
    `${run}-99999999999999999`,
  ]
  for (const last of others) await resets(last, true)
  clock.ms = 300_001
  await resets(`${run}-3`, true)
  await resets(`${run}-10`, false)
  hub.store(stored(inTurns(numbers(20_000))))
  await resets(`${run}-10`, true)
  stays.leave()
  clock.ms = 700_000
  hub.store(stored(inTurns(numbers(5))))
  await resets(`${run}-20010`, true)
})

test('after missed readings every client gets a reset, and continues after it', async t => {
  const { hub } = open(t)
  const stays = listen(hub)
  hub.store(stored(inTurns(numbers(3))))
  await hasValues(stays, 3)
  hub.missed()
  hub.store(stored(inTurns(numbers(2, 3))))
  await waitFor('it is reset', () => stays.dataOf('reset').length === 1)
  hub.store(stored(inTurns(numbers(2, 5))))
  await waitFor('it goes on', () => stays.values().at(-1) === 6)
  const back = listen(hub, { last: `${run}-2` })
  t.equal(back.events()[0]?.event, 'reset', 'who comes back from before')
})

test('a client gets the events that its owner and its tags allow at the moment, also after a break', async t => {
  const owners = [7, 8, 7]
  const tagged = [true, false, true]
  const { hub } = open(t, { ownerOf: device => owners[device] })
  const isTagged = (device: number) => tagged[device] === true
  const all = listen(hub)
  const hers = listen(hub, { owner: 7 })
  const limited = {
    his: listen(hub, { owner: 8 }),
    some: listen(hub, { owner: 7, devices: [0, 1] }),
    tagged: listen(hub, { isTagged }),
    taggedHers: listen(hub, { isTagged, owner: 7 }),
    taggedSome: listen(hub, { isTagged, devices: [0, 1] }),
    stranger: listen(hub, { owner: 9 }),
  }
  const valuesOf = () => Object.fromEntries(Object.entries(limited).map(([name, client]) => [name, client.values()]))
  const [states, taggedStates] = [
    listen(hub, { owner: 8, statesOnly: true }),
    listen(hub, { isTagged, statesOnly: true }),
  ]
  hub.store(stored(inTurns(numbers(6))))
  hub.stateChanged(0, 'late')
  hub.stateChanged(1, 'silent')
  await hasEvents(all, 8)
  t.strictSame(hers.values(), [0, 2, 3, 5])
  const before = { his: [1, 4], some: [0, 3], tagged: [0, 2, 3, 5], taggedHers: [0, 2, 3, 5], taggedSome: [0, 3] }
  t.strictSame(valuesOf(), { ...before, stranger: [] })
  const id = hers.lastId() ?? ''
  hers.leave()
  owners[1] = 7
  owners[2] = 8
  tagged[0] = false
  tagged[1] = true
  hub.store(stored(inTurns(numbers(3, 6))))
  hub.stateChanged(1, 'fresh')
  await hasEvents(all, 12)
  const back = listen(hub, { owner: 7, last: id })
  await hasValues(back, 2)
  t.strictSame(back.values(), [6, 7])
  t.strictSame(valuesOf(), {
    his: [...before.his, 8],
    some: [...before.some, 6, 7],
    tagged: [...before.tagged, 7, 8],
    taggedHers: [...before.taggedHers, 7],
    taggedSome: [...before.taggedSome, 7],
    stranger: [],
  })
  t.strictSame(states.dataOf('state'), [{ device: 'attic', state: 'silent' }])
  t.match(taggedStates.dataOf('state'), [{ state: 'late' }, { device: 'attic', state: 'fresh' }])
})

test('a client that read nothing for long gets the last reading of each device', async t => {
  const { hub } = open(t)
  const [slow, quick] = [listen(hub), listen(hub)]
  slow.client.takes = false
  hub.store(stored(inTurns([0])))
  await hasValues(slow, 1)
  for (let from = 1; from < 5001; from += 1000) {
    hub.store(stored(inTurns(numbers(1000, from))))
    await hasValues(quick, from + 1000)
  }
  t.strictSame(slow.values(), [0])
  slow.client.takes = true
  slow.client.drain()
  await waitFor('it has caught up', () => slow.values().length > 1)
  t.strictSame(slow.values(), [0, 4998, 4999, 5000])
})

test('a client that continues to read nothing is disconnected', async t => {
  const { hub, clock, metered } = open(t, { beatMs: 5 })
  const [slow, quick] = [listen(hub), listen(hub)]
  slow.client.takes = false
  const { length } = slow.client.chunks
  await waitFor('it is blocked', () => slow.client.chunks.length > length)
  clock.ms = 29_999
  const { length: beats } = quick.client.chunks
  await waitFor('beats have come', () => quick.client.chunks.length > beats + 2)
  t.notOk(slow.client.isDestroyed)
  t.equal(slow.client.chunks.length, length + 1, 'nothing more is kept for it')
  clock.ms = 30_001
  await waitFor('it is cut off', () => slow.client.isDestroyed)
  t.notOk(quick.client.isDestroyed)
  t.equal(hub.size, 1)
  t.strictSame(await metered(), [1, 0, 1], 'beats are no events')
})

test('a client slightly behind gets all events', async t => {
  const { hub } = open(t)
  const [behind, quick] = [listen(hub), listen(hub)]
  behind.client.takes = false
  for (let from = 0; from < 1500; from += 500) {
    hub.store(stored(inTurns(numbers(500, from))))
    await hasValues(quick, from + 500)
  }
  behind.client.takes = true
  behind.client.drain()
  await hasValues(behind, 1500)
  t.strictSame(behind.values(), numbers(1500))
})

test('if a tick has too many readings, the last one of each device is sent, in order', async t => {
  const { hub } = open(t, { tickMs: 50 })
  const client = listen(hub)
  hub.store(stored(inTurns(numbers(9000))))
  await waitFor('the last is sent', () => client.values().includes(8999))
  t.strictSame(client.values(), [8997, 8998, 8999])
})

test('states follow the readings before them, also after a break', async t => {
  const { hub } = open(t)
  const [all, attic, states] = [listen(hub), listen(hub, { devices: [1] }), listen(hub, { statesOnly: true })]
  hub.store(stored(inTurns([0])))
  hub.stateChanged(0, 'fresh')
  await hasEvents(all, 2)
  const last = all.lastId() ?? ''
  t.match(all.events(), [{ event: 'reading' }, { event: 'state' }])
  t.strictSame(states.dataOf('state'), [{ device: 'porch', state: 'fresh' }])
  hub.stateChanged(1, 'late')
  hub.stateChanged(99, 'late')
  await hasEvents(attic, 1)
  t.match(attic.events(), [{ event: 'state', data: { device: 'attic', state: 'late' } }])
  const back = listen(hub, { last })
  await hasEvents(back, 2)
  t.match(back.events(), [{ data: { state: 'fresh' } }, { data: { state: 'late' } }])
})

/** An alert of a rule, which an account owns, on a device. */
function firing(id: string, owner: number | null, device = 1): ChangedAlert {
  const at = '2026-11-26T12:00:00.000Z'
  const [severity, state] = ['warning', 'firing'] as const
  const of = { rule: 'Too hot', rule_id: 3, device: names[device] ?? null }
  return { device, owner, data: { id, ...of, state, severity, flapping: false, acknowledged: false, at } }
}

test('an alert is sent only to readers of its rule, also after a break', async t => {
  const { hub } = open(t)
  const ofAll = () => true
  const ofSeven = ({ owner }: { owner: number | null }) => owner === 7
  const [everybody, admin, seven, attic] = [
    listen(hub),
    listen(hub, { alerts: ofAll, statesOnly: true }),
    listen(hub, { alerts: ofSeven, owner: 7 }),
    listen(hub, { alerts: ofAll, devices: [1] }),
  ]
  hub.store(stored([{ device: 1, value: 20 }]))
  await waitFor('the reading is sent', () => everybody.values().length + attic.values().length === 2)
  const last = everybody.lastId() ?? ''
  const [ofService, ofAccount, ofSite] = [firing('1', null), firing('2', 7), firing('3', 7, 0)]
  for (const alert of [ofService, ofAccount, ofSite]) hub.alertChanged(alert)
  hub.stateChanged(1, 'late')
  const haveState = (...clients: ReturnType<typeof listen>[]) =>
    waitFor('the state behind the alerts is sent', () => clients.every(client => client.text().includes('late')))
  await haveState(everybody, admin, attic)
  t.strictSame(everybody.dataOf('alert'), [])
  t.strictSame(admin.dataOf('alert'), [ofService.data, ofAccount.data, ofSite.data])
  t.strictSame(seven.dataOf('alert'), [ofAccount.data, ofSite.data], 'also on a device of another owner')
  t.strictSame(attic.dataOf('alert'), [ofService.data, ofAccount.data], 'of the devices that it has asked for')
  const [stranger, back] = [listen(hub, { last }), listen(hub, { last, alerts: ofSeven })]
  await haveState(stranger, back)
  t.strictSame(stranger.dataOf('alert'), [])
  t.strictSame(back.dataOf('alert'), [ofAccount.data, ofSite.data])
})

test("a client that resumes receives the end of a removed device's alerts without its name", async t => {
  let isGone = false
  const { hub } = open(t, { nameOf: number => (isGone && number === 1 ? undefined : names[number]) })
  const first = listen(hub)
  hub.store(stored([{ device: 0, value: 20 }]))
  await hasValues(first, 1)
  const last = first.lastId() ?? ''
  hub.store(stored([{ device: 1, value: 31 }]))
  hub.alertChanged(firing('1', null))
  hub.stateChanged(1, 'late')
  hub.alertChanged(firing('2', null, 0))
  isGone = true
  const end = firing('1', null)
  hub.alertChanged({ ...end, data: { ...end.data, device: null, state: 'resolved' } })
  hub.stateChanged(2, 'late')
  const back = listen(hub, { last, alerts: () => true })
  await waitFor('the last state is sent', () => back.text().includes('"late"'))
  t.match(back.events(), [
    { event: 'alert', data: { id: '2', device: 'porch' } },
    { event: 'alert', data: { id: '1', device: null, state: 'resolved' } },
    { event: 'state', data: { device: names[2] } },
  ])
})

test('events are counted by client, and clients while they are connected', async t => {
  const { hub, metered } = open(t)
  t.strictSame(await metered(), [0, 0, 0])
  const [all, attic] = [listen(hub), listen(hub, { devices: [1] })]
  hub.store(stored(inTurns(numbers(6))))
  await waitFor('they are sent', () => all.values().length + attic.values().length === 8)
  t.strictSame(await metered(), [2, 8, 0])
  for (const client of [all, attic]) client.leave()
  t.strictSame(await metered(), [0, 8, 0], 'who leaves is not dropped')
})

test('a heartbeat sends a cursor to clients whose devices are silent', async t => {
  const { hub } = open(t, { beatMs: 5 })
  const quiet = listen(hub, { devices: [2] })
  hub.store(stored([{ device: 0, value: 1 }]))
  await waitFor('it has the cursor', () => quiet.lastId() === `${run}-1`)
  t.match(quiet.text(), `:\nid: ${run}-1\n\n`)
  t.strictSame(quiet.events(), [])
})

test('events match the contract', async t => {
  const { operation, fault } = createContractChecker(published)
  const stream = operation('GET', '/api/events').responses['200']?.content?.['text/event-stream']?.schema
  t.match(stream, { type: 'string', contentMediaType: 'text/event-stream' })
  const content = { list: { schema: stream?.['contentSchema'] as Json } }
  const { hub } = open(t)
  const client = listen(hub, { last: 'fedcba9876543210-3', alerts: () => true })
  hub.store(stored(inTurns(numbers(3))))
  hub.stateChanged(1, 'late')
  hub.alertChanged(firing('12', 7))
  await hasEvents(client, 6)
  const events = JSON.parse(JSON.stringify(client.events()))
  t.equal(fault(content, 'list', events), undefined)
  t.strictSame(new Set(events.map(({ event }: SentEvent) => event)), new Set(['reset', 'reading', 'state', 'alert']))
  const [reset, reading] = events
  const data = { device: names[0], ts: timeUs / 1000 - 3, values: { temperature: 0 } }
  t.strictSame(reading, { id: `${run}-1`, event: 'reading', data })
  t.ok(fault(content, 'list', [{ ...reading, data: { ...reading.data, values: { co2: '1' } } }]))
  t.ok(fault(content, 'list', [{ ...reset, event: 'state' }]))
})

/** The route, on loopback. */
async function openRoute(
  t: Test,
  clientsMax: number,
  clientsOfOneMax = clientsMax + 1,
  credential?: string,
  more: Partial<EventsOptions> = {},
) {
  const listeners: ((readings: ReadingGroup) => void)[] = []
  const devices = names.map((name, number) => ({ name, number }))
  const group = eventsGroup(
    { ...openReadsOf(devices), credentialOf: () => credential },
    {
      ingest: { onStored: listener => void listeners.push(listener as never), shared: undefined },
      devices: { byNumber: number => devices[number] as never },
      metrics: { metricOf: (_device, series) => (series === 12 ? { name: 'co2' } : undefined) as never },
      clientsMax,
      clientsOfOneMax,
      windowMs: 300_000,
      windowBytes: 1024 ** 2,
      nowMs: () => performance.now(),
      log: silentLog,
      meter: createEventMeter(new Registry()),
      ...more,
    },
  )
  return { ...(await serveGroups(t, group)), store: (made: readonly Made[]) => listeners[0]?.(stored(made)) }
}

const head = (query = '') => `GET /api/events${query} HTTP/1.1\r\nhost: test\r\n\r\n`
const valuesIn = (text: string) => [...text.matchAll(/"temperature":(\d+)/g)].map(([, value]) => Number(value))

test('the route names the fault, and has a limit', async t => {
  const { app, url, store } = await openRoute(t, 2)
  const ask = async (query: string) => {
    const answer = await fetch(`${url}/events${query}`, { method: 'GET' })
    return [answer.status, ((await answer.json()) as { status: string }).status]
  }
  t.strictSame(await ask('?device=cellar'), [404, 'device unknown'])
  t.strictSame(await ask('?device=porch&device=cellar'), [404, 'device unknown'])
  t.strictSame(await ask('?state=2'), [400, 'state must be 1 for states only, or 0'])
  t.strictSame(await ask('?devices=porch'), [400, 'unknown parameter devices; did you mean device?'])
  t.strictSame(await ask(`?${'device=porch&'.repeat(501)}`), [400, 'device may be given 500 times'])
  const first = await openRaw(t, url)
  first.socket.write(head(`?device=attic&device=${encodeURIComponent(names[2] ?? '')}&_=1`))
  const second = await openRaw(t, url)
  second.socket.write(head('?state=1').replace('1.1', '1.0'))
  await waitFor('both are open', () => /\nid: /.test(first.received()) && /\nid: /.test(second.received()))
  t.match(
    first.received(),
    /^HTTP\/1.1 200 .*content-type: text\/event-stream\r\n.*\r\n\r\nretry: 3000\n\n:\nid: \w+-0\n\n$/s,
  )
  t.match(first.received(), /access-control-allow-origin: \*\r\n/)
  t.notMatch(first.received(), /transfer-encoding/i)
  const third = await fetch(`${url}/events`)
  t.match([third.status, third.headers.get('retry-after'), await third.json()], [503, '30', { status: /streams/ }])
  const tested = await fetch(`${url}/events`, { method: 'HEAD' })
  t.equal(tested.status, 503)
  store(inTurns(numbers(6)))
  await waitFor('the readings are sent', () => valuesIn(first.received()).length === 4)
  t.strictSame(valuesIn(first.received()), [1, 2, 4, 5])
  second.socket.destroy()
  await waitFor('there is room', async () => (await fetch(`${url}/events`, { method: 'HEAD' })).status === 200)
  await app.close()
  await first.closed
})

test('an address and a credential have a share of the streams', async t => {
  const ask = async (url: string, from: string) => {
    const raw = await openRaw(t, url, from)
    raw.socket.write(head())
    await once(raw.socket, 'data')
    return raw
  }
  const refusal = (of: string) => new RegExp(`^HTTP/1.1 429 .*retry-after: 30.*"too many event streams ${of}"`, 's')
  const open = /^HTTP\/1.1 200 /
  const { url } = await openRoute(t, 10, 2)
  const first = await ask(url, '127.0.0.2')
  t.match((await ask(url, '127.0.0.2')).received(), open)
  t.match((await ask(url, '127.0.0.2')).received(), refusal('to this address'))
  t.match((await ask(url, '127.0.0.3')).received(), open)
  first.socket.destroy()
  await waitFor('there is room', async () => open.test((await ask(url, '127.0.0.2')).received()))
  const asked = await openRoute(t, 10, 2, 'account 7')
  for (const from of ['127.0.0.2', '127.0.0.3']) t.match((await ask(asked.url, from)).received(), open)
  t.match((await ask(asked.url, '127.0.0.4')).received(), refusal('of this account or device'))
})

test('the route checks whose alerts a request may see, and repeats the check', async t => {
  const listeners: ((alert: ChangedAlert) => void)[] = []
  const { url } = await openRoute(t, 10, 10, undefined, {
    lifetimeMs: 500,
    onAlert: listener => void listeners.push(listener),
    alertsOf: ({ headers }) => Promise.resolve(headers['x-api-key'] === 'good' ? () => true : undefined),
  })
  const [withoutAlerts, withAlerts] = await Promise.all([
    fetch(`${url}/events`),
    fetch(`${url}/events`, { headers: { 'x-api-key': 'good' } }),
  ])
  // The alert is repeated, as the connection ends by itself.
  const sending = setInterval(() => listeners[0]?.(firing('5', null)), 5)
  const text = await withAlerts.text()
  clearInterval(sending)
  t.match(text, /event: alert\ndata: \{"id":"5","rule":"Too hot",/, 'and the connection has ended')
  const reader = withoutAlerts.body?.getReader()
  const first = await reader?.read()
  t.notMatch(Buffer.from(first?.value ?? []).toString(), 'event: alert')
  await reader?.cancel()
})
