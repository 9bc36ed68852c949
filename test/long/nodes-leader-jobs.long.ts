/** Nodes as processes: jobs of the leader continue after it is killed or frozen, and the responses of other nodes are correct. */

import { fork } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { deviceNamesTable } from '../../store/tables.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import { connectClient, reading } from '../support/mqtt.ts'
import { messageOf } from '../support/processes.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const hourMs = 3_600_000
const cluster = await openKafkaNodes(t)
const { sql, postgresUrl } = cluster.databases
const postgres = new pg.Client({ connectionString: postgresUrl })
await postgres.connect()
t.teardown(() => postgres.end())
const broker = fork(join(import.meta.dirname, '..', 'support', 'mqtt-broker.ts'))
t.teardown(() => broker.kill())
const brokerUrl = `mqtt://127.0.0.1:${await messageOf<number>(broker)}`
const startNode = () => cluster.start('api', { MQTT_BROKER_URL: brokerUrl })
await cluster.start('forward')
const [one, other] = await Promise.all([startNode(), startNode()])
const sender = await connectClient(t, brokerUrl)

const isLinked = async ({ url }: Service) =>
  /^barograph_mqtt_broker_connected 1$/m.test(await (await fetch(`${url}/metrics`)).text())
const isSaid = ({ output }: Service, text: string) => output().includes(text)

/** The start of the current lead, from PostgreSQL. Two leaders at once fail the test. */
async function leadsSince(): Promise<string | undefined> {
  const { rows } = await postgres.query<{ since: string }>(
    'SELECT leads_since::text AS since FROM nodes WHERE leads_since IS NOT NULL',
  )
  if (rows.length > 1) throw new Error(`${rows.length} nodes lead`)
  return rows[0]?.since
}

interface Hours {
  last_30d_hourly: { temperature: { count: number; mean: number }[] }
}

async function hoursOf({ url }: Service, device: string): Promise<[count: number, mean: number][]> {
  const response = await fetch(`${url}/api/detail_data/${device}`)
  const { last_30d_hourly: hours } = (await response.json()) as Hours
  return hours.temperature.map(({ count, mean }) => [count, mean])
}

async function isViewPublished(): Promise<boolean> {
  const { rows } = await postgres.query('SELECT FROM hourly_view WHERE valid_through IS NOT NULL')
  return rows.length === 1
}

const startMs = Math.floor(Date.now() / hourMs - 48) * hourMs
const csvOf = (device: string, rows: readonly [minute: number, temperature: number][]) =>
  ['timestamp,device,temperature,humidity,pressure']
    .concat(
      rows.map(([minute, value]) => `${new Date(startMs + minute * 60_000).toISOString()},${device},${value},50,1000`),
    )
    .join('\n')

/** Waits until all jobs of the leader have processed a new device. */
async function untilJobsRun(device: string, nodes: readonly Service[]): Promise<void> {
  const [first] = nodes
  await first?.addDevice(device)
  await sender.publishAsync(`readings/${device}`, reading(21), { qos: 1 })
  const named = `SELECT count() FROM ${deviceNamesTable} WHERE name = '${device}'`
  await waitFor(`${device} is named in QuestDB`, async () => (await sql(named).catch(() => [[0]]))[0]?.[0] === 1)
  for (const node of nodes) {
    await waitFor(`the reading of ${device} kept by the broker is shown`, async () => {
      const response = await fetch(`${node.url}/api/latest/${device}`)
      return response.status === 200 && (await response.text()).includes('21')
    })
  }
  await waitFor('the hourly view is published', isViewPublished)
}

t.test('one of the nodes runs each job, without a reading missing at either', async t => {
  // The broker has no session before that in which to keep messages.
  await waitFor('one has the link', async () => (await isLinked(one)) || (await isLinked(other)))
  await untilJobsRun('porch', [one, other])
  t.strictSame((await Promise.all([one, other].map(isLinked))).sort(), [false, true], 'one has the link')
  await one.addDevice('barn')
  for (let round = 0; round < 2; round++) {
    // Old hours first, then late readings of them, so that the view lacks these.
    await [one, other][round % 2]?.import(
      csvOf(
        'barn',
        Array.from({ length: 60 }, (_, at) => [at * 10 + round, round]),
      ),
    )
    const wanted = Array.from({ length: 10 }, () => [6 * (round + 1), round / 2])
    for (const node of [one, other]) {
      await waitFor(
        'the hours have all',
        async () => JSON.stringify(await hoursOf(node, 'barn')) === JSON.stringify(wanted),
      )
    }
  }
})

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  t.test(`another node takes all jobs over when the leader gets ${signal}`, async t => {
    const nodes = signal === 'SIGKILL' ? [one, other] : [await startNode(), ...(await living())]
    const linked = await Promise.all(nodes.map(isLinked))
    const leader = nodes[linked.indexOf(true)] as Service
    const next = nodes.find(node => node !== leader) as Service
    const before = await leadsSince()
    leader.child.kill(signal)
    // The broker keeps the message for the next leader.
    await waitFor('another one leads', async () => ![undefined, before].includes(await leadsSince()))
    await untilJobsRun(signal.toLowerCase(), [next])
    t.equal(await isLinked(next), true)
    const hours = await hoursOf(next, 'barn')
    t.strictSame(
      hours,
      Array.from({ length: 10 }, () => [12, 0.5]),
    )
    if (signal === 'SIGKILL') return
    const since = await leadsSince()
    leader.child.kill('SIGCONT')
    await waitFor('it has seen that it leads no more', () => isSaid(leader, 'this node no longer leads'))
    await untilJobsRun('after', [next, leader])
    t.equal(await isLinked(leader), false)
    t.equal(await leadsSince(), since, 'who has taken over goes on')
  })
}

async function living(): Promise<Service[]> {
  return [one, other].filter(({ child }) => child.exitCode === null && child.signalCode === null)
}
