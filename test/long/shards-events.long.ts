/** Events and the state of the fleet of two shards at several nodes: a client goes on at any of them, also when its node was killed. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { oneShard, shardAt } from '../../placement/placement.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { createEventSource, type TestEventSource } from '../support/event-source.ts'
import type { Service } from '../support/service.ts'
import { openShardNodes } from '../support/shard-nodes.ts'
import { waitFor } from '../support/wait-for.ts'

const dayUs = 86_400_000_000
const nodes = await openShardNodes(t)
const epoch = await nodes.split((Math.floor((Date.now() * 1000) / dayUs) - 2) * dayUs)
const own = { EVENTS_CLIENTS_PER_ADDRESS: '100' }
await nodes.start('forward')
const [one, other] = [await nodes.start('api', own), await nodes.start('api', own)]
for (const { url } of [one, other]) {
  await waitFor('the fleet is loaded', async () => (await fetch(`${url}/api/fleet`)).status === 200)
}

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const random = createRandom(seed)
const names = Array.from({ length: 6 }, (_, at) => `device-${at}`)
const passwords = new Map<string, string>()
for (const name of names) passwords.set(name, await random.pick([one, other]).addDevice(name))
const { rows } = await nodes.postgres.query<{ name: string; number: number }>('SELECT name, number::int FROM devices')
const shardOf = new Map(
  rows.map(({ name, number }) => [name, shardAt([...oneShard, epoch], number, Date.now() * 1000)]),
)

/** By device, in order; a value is told apart from all others. */
const acknowledged = new Map<string, number[]>(names.map(name => [name, []]))
/** Of requests that were cut off. */
const unknown = new Set<number>()
const last = new Map<string, number>()
const living = new Set([one, other])
let value = 0

/** One after the other, so that the order is known. */
async function send(name: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const temperature = value++ / 10
    const node = random.pick([...living] as [Service, ...Service[]])
    try {
      const reading = { device: name, temperature, humidity: 50, pressure: 1000 }
      const { status } = await node.put(name, passwords.get(name) ?? '', reading)
      if (status !== 200) throw new Error(`answered with ${status}`)
      acknowledged.get(name)?.push(temperature)
    } catch (error) {
      if (living.has(node)) throw error
      unknown.add(temperature)
    }
    last.set(name, temperature)
  }
}

const valuesOf = ({ heard }: TestEventSource, device: string) =>
  heard.flatMap(({ event, data }) =>
    event === 'reading' && data.device === device ? [data.values['temperature'] ?? Number.NaN] : [],
  )

const sources = [createEventSource(), createEventSource(), createEventSource('?device=device-1&device=device-2')]
const wantedBy = (source: TestEventSource) => (source === sources[2] ? ['device-1', 'device-2'] : names)
t.teardown(() => {
  for (const source of sources) source.close()
})

async function untilAllTold(): Promise<void> {
  await waitFor('all is told', () =>
    sources.every(source =>
      wantedBy(source).every(name => valuesOf(source, name).includes(acknowledged.get(name)?.at(-1) ?? Number.NaN)),
    ),
  )
  for (const source of sources) {
    t.notOk(
      source.heard.some(({ event }) => event === 'reset'),
      `seed ${seed}: no reset`,
    )
    for (const name of wantedBy(source)) {
      const told = valuesOf(source, name)
      t.equal(new Set(told).size, told.length, `seed ${seed}: ${name} once`)
      t.strictSame(
        told.filter(each => !unknown.has(each)),
        acknowledged.get(name),
        `seed ${seed}: ${name}`,
      )
    }
  }
}

t.test('a client that is thrown between nodes gets each reading of both shards once and in order', async t => {
  t.strictSame(new Set(shardOf.values()), new Set([1, 2]), 'there are devices on both')
  for (const source of sources) await source.connect(random.pick([one, other]))
  let isSent = false
  async function throwAbout(): Promise<void> {
    while (!isSent) {
      await sleep(random.below(120))
      await random.pick([...sources] as [TestEventSource, ...TestEventSource[]]).connect(random.pick([one, other]))
    }
  }
  const throwing = throwAbout()
  await Promise.all(names.map(name => send(name, 40)))
  isSent = true
  await throwing
  await untilAllTold()
})

t.test('a client of a node that was killed goes on at another one', async () => {
  for (const source of sources) await source.connect(one)
  const sending = Promise.all(names.map(name => send(name, 40)))
  await waitFor('some are told', () => sources.every(source => valuesOf(source, 'device-1').length > 45))
  living.delete(one)
  await one.end('SIGKILL')
  await sending
  await Promise.all(names.map(name => send(name, 1)))
  for (const source of sources) await source.connect(other)
  await untilAllTold()
})

interface FleetBody {
  catching_up?: boolean
  devices: { device: string; last_seen: number; values: { temperature: number } }[]
}

t.test('a node that starts has the last values of both shards', async t => {
  const third = await nodes.start('api', own)
  const fleetOf = async ({ url }: Service) =>
    (await (await fetch(`${url}/api/fleet?order=name`)).json()) as Partial<FleetBody>
  // Of how often a device reports it knows less at first than one that has heard of each reading.
  const told = ({ devices = [] }: Partial<FleetBody>) =>
    devices.map(({ device, last_seen, values }) => ({ device, last_seen, value: values.temperature }))
  await waitFor('it has caught up', async () => {
    const { devices, catching_up } = await fleetOf(third)
    return devices !== undefined && catching_up !== true
  })
  const fleet = told(await fleetOf(other))
  t.strictSame(told(await fleetOf(third)), fleet)
  t.strictSame(
    fleet.map(({ device, value }) => [device, value]),
    names.map(name => [name, last.get(name)]),
  )
})
