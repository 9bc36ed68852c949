/** Two processes accept requests, with topics of Kafka as journals. Each shows the readings of both. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRandom } from '../faults/seeded-random.ts'
import { createEventSource } from '../support/event-source.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const cluster = await openKafkaNodes(t)
const forwarder = await cluster.start('forward')
const [one, other] = await Promise.all([cluster.start('api'), cluster.start('api')])
const nodes = [one, other] as const

const reading = (device: string, temperature: number) => ({ device, temperature, humidity: 50, pressure: 1000 })

interface FleetBody {
  generated_at?: number
  catching_up?: boolean
  counts: Record<string, number>
  devices: { device: string; state: string; last_seen: number; values: { temperature?: number }; hours: string }[]
}

async function fleetOf({ url }: Service): Promise<FleetBody> {
  return (await (await fetch(`${url}/api/fleet?order=name`)).json()) as FleetBody
}

interface DetailBody {
  last_30d_hourly: { temperature: { count: number }[] }
}

const readinessOf = async ({ url }: Service) => (await fetch(`${url}/health/ready`)).text()

for (const node of nodes) {
  await waitFor('the fleet is loaded', async () => (await fetch(`${node.url}/api/fleet`)).status === 200)
}

t.test('an event client moved between nodes gets each acknowledged reading once and in order', async t => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
  const random = createRandom(seed)
  const names = ['porch', 'attic', 'cellar']
  const passwords = new Map<string, string>()
  for (const name of names) passwords.set(name, await random.pick(nodes).addDevice(name))
  const sources = [createEventSource(), createEventSource(), createEventSource('?device=attic')]
  t.teardown(() => {
    for (const source of sources) source.close()
  })
  for (const source of sources) await source.connect(random.pick(nodes))

  const acknowledged = new Map<string, number[]>(names.map(name => [name, []]))
  async function send(name: string): Promise<void> {
    for (let value = 0; value < 60; value++) {
      const { status } = await random.pick(nodes).put(name, passwords.get(name) ?? '', reading(name, value))
      if (status !== 200) throw new Error(`answered with ${status}`)
      acknowledged.get(name)?.push(value)
    }
  }
  let isSent = false
  async function throwAbout(): Promise<void> {
    while (!isSent) {
      await sleep(random.below(120))
      await random.pick([...sources] as [(typeof sources)[0]]).connect(random.pick(nodes))
    }
  }
  const throwing = throwAbout()
  await Promise.all(names.map(send))
  isSent = true
  await throwing

  const valuesOf = ({ received }: (typeof sources)[0], device: string) =>
    received.flatMap(({ event, data }) =>
      event === 'reading' && data.device === device ? [data.values['temperature']] : [],
    )
  const isLast = (source: (typeof sources)[0], device: string) => valuesOf(source, device).at(-1) === 59
  const isComplete = (source: (typeof sources)[0]) =>
    source === sources[2] ? isLast(source, 'attic') : names.every(name => isLast(source, name))
  await waitFor('all readings have arrived', () => sources.every(isComplete))
  for (const source of sources) {
    t.notOk(
      source.received.some(({ event }) => event === 'reset'),
      `seed ${seed}: no reset`,
    )
    for (const name of source === sources[2] ? ['attic'] : names) {
      t.strictSame(valuesOf(source, name), acknowledged.get(name), `seed ${seed}: ${name}`)
    }
  }
})

t.test("the fleet's pages and the last-seen times converge at both nodes", async t => {
  const password = await one.addDevice('garden', { expected_interval_seconds: 60 })
  t.equal((await one.put('garden', password, reading('garden', 7))).status, 200)
  await waitFor('both show it', async () => {
    const pages = await Promise.all(nodes.map(fleetOf))
    return pages.every(({ devices }) =>
      devices.some(({ device, values }) => device === 'garden' && values.temperature === 7),
    )
  })
  await waitFor('both pages are the same', async () => {
    const [a, b] = await Promise.all(nodes.map(fleetOf))
    for (const page of [a, b]) if (page !== undefined) delete page.generated_at
    return JSON.stringify(a) === JSON.stringify(b)
  })
  const seen = async ({ admin }: Service) => {
    const { body } = await admin('GET', '/devices/garden')
    return (body as { last_seen: string | null }).last_seen
  }
  await waitFor('both know when it was seen', async () => {
    const [a, b] = await Promise.all(nodes.map(seen))
    return a !== null && a === b
  })
})

t.test('a cached day and hours at one node include readings just acknowledged by the other', async t => {
  await one.addDevice('shed')
  const dayMs = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000
  const day = new Date(dayMs).toISOString().slice(0, 10)
  const ofDay = async () => {
    const response = await fetch(`${other.url}/api/data/day/shed/${day}`)
    return ((await response.json()) as { temperature: unknown[] }).temperature.length
  }
  let points = 4
  /** Each request has a different parameter, so that no response is cached. */
  const ofHours = async () => {
    const response = await fetch(`${other.url}/api/detail_data/shed?points=${points++}`)
    const { last_30d_hourly } = (await response.json()) as DetailBody
    return last_30d_hourly.temperature.reduce((sum, { count }) => sum + count, 0)
  }
  t.equal(await ofDay(), 0)
  for (let count = 1; count <= 5; count++) {
    const time = new Date(dayMs + count * 60_000).toISOString()
    await one.import(`timestamp,device,temperature,humidity,pressure\n${time},shed,${count},50,1000`)
    await waitFor('the day has it', async () => (await ofDay()) === count)
    t.equal(await ofHours(), count, 'what the day shows, the hours have')
  }
})

t.test('a starting node shows readings that QuestDB does not have yet', async t => {
  const password = await one.addDevice('roof', { expected_interval_seconds: 3600 })
  await forwarder.end('SIGKILL')
  for (const value of [1, 2, 3]) t.equal((await one.put('roof', password, reading('roof', value))).status, 200)
  const third = await cluster.start('api')
  await waitFor('it shows the last reading', async () => {
    const response = await fetch(`${third.url}/api/latest/roof`)
    const { values } = (await response.json()) as { values?: { temperature?: { v: number } } }
    return values?.temperature?.v === 3
  })
  t.match(await (await fetch(`${third.url}/api/latest/roof`)).json(), { state: 'fresh' })
  await third.end('SIGTERM')
})

t.test('a node that cannot read the topic reports it without changes of its devices', async t => {
  const [broker] = cluster.kafka.brokers
  if (broker === undefined) throw new Error('no broker')
  await broker.kill()
  const isBehind = async () =>
    /readings that other nodes took in the last \d+ s are not known/.test(await readinessOf(other))
  await waitFor('it says so', isBehind)
  const fleet = await fleetOf(other)
  t.equal(fleet.catching_up, true)
  t.match(
    fleet.devices.filter(({ device }) => device === 'roof'),
    [{ state: 'fresh' }],
  )
  await broker.start()
  await waitFor('it reads again', async () => !(await isBehind()))
})
