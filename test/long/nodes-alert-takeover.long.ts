/** Nodes as processes: what the leader has found, or is sending when it dies, is told once by the one that leads after it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startReceiver } from '../support/alert-receiver.ts'
import { heldText } from '../support/held-answers.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const cluster = await openKafkaNodes(t)
const receiver = await startReceiver(t)
const startNode = () => cluster.start('api', { ALERT_TARGETS_ALLOWED: receiver.origin })
await cluster.start('forward')
const nodes = [await startNode(), await startNode()]

async function ask<Answer>({ dataDirectory, url }: Service, method: string, path: string, body?: object) {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init =
    body === undefined ? { headers: { authorization: headers.authorization } } : { headers, body: JSON.stringify(body) }
  const response = await fetch(`${url}/api${path}`, { method, ...init })
  const text = await heldText(method, response)
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Answer
}

interface NodeStates {
  nodes: { is_self: boolean; leads: boolean }[]
}

/** Undefined where none says that it leads, or more than one. */
async function findLeader(among: readonly Service[]): Promise<Service | undefined> {
  const leads = await Promise.all(
    among.map(async node => {
      const { nodes } = await ask<NodeStates>(node, 'GET', '/admin/status')
      return nodes.some(({ is_self, leads }) => is_self && leads)
    }),
  )
  const leaders = among.filter((_, at) => leads[at])
  return leaders.length === 1 ? leaders[0] : undefined
}

/** The one that evaluates the rule, and another one. */
async function untilEvaluated(among: readonly Service[], rule: number): Promise<[leader: Service, other: Service]> {
  let leader: Service | undefined
  await waitFor('the leader evaluates the rule', async () => {
    leader = await findLeader(among)
    if (leader === undefined) return false
    return (await ask<{ covered: number | null }>(leader, 'GET', `/alert-rules/${rule}`)).covered === 1
  })
  const other = among.find(node => node !== leader)
  if (leader === undefined || other === undefined) throw new Error('there are too few nodes')
  return [leader, other]
}

const first = nodes[0] as Service
const password = await first.addDevice('freezer')
const { id: channel } = await ask<{ id: number }>(first, 'POST', '/alert-channels', {
  name: 'hook',
  kind: 'webhook',
  settings: { url: `${receiver.origin}/hook` },
})

function addRule(node: Service, name: string, value: number): Promise<{ id: number }> {
  const condition = { kind: 'above', metric: 'temperature', value }
  return ask(node, 'POST', '/alert-rules', { name, selector: { all: true }, condition, channels: [channel] })
}

async function put(node: Service, temperature: number): Promise<void> {
  const response = await node.put('freezer', password, { device: 'freezer', temperature, humidity: 50, pressure: 1000 })
  if (response.status !== 200) throw new Error(`a reading is answered ${response.status}`)
}

const idsOf = (rule: number) =>
  new Set(
    receiver.received
      .filter(({ body }) => (JSON.parse(body) as { data: { rule: { id: number } } }).data.rule.id === rule)
      .map(({ headers }) => headers['webhook-id']),
  )

/** What was told of the rule's only alert, as the outbox and its history have it. */
async function toldOf(node: Service, rule: number) {
  const { deliveries } = await ask<{ deliveries: { rule_id: number; state: string; kind: string }[] }>(
    node,
    'GET',
    '/alert-deliveries',
  )
  const { alerts } = await ask<{ alerts: { id: string; state: string }[] }>(node, 'GET', `/alerts?rule=${rule}`)
  const { events } = await ask<{ events: { kind: string }[] }>(node, 'GET', `/alerts/${alerts[0]?.id}`)
  return {
    deliveries: deliveries.filter(({ rule_id }) => rule_id === rule).map(({ kind, state }) => `${kind} ${state}`),
    alerts: alerts.map(({ state }) => state),
    events: events.map(({ kind }) => kind),
  }
}

const once = { deliveries: ['firing delivered'], alerts: ['firing'], events: ['pending', 'firing', 'notified'] }

/** It stays so: that something is sent twice shows in the rows, and those are there with the first delivery. */
async function untilToldOnce(t: Test, node: Service, rule: number): Promise<void> {
  await waitFor('it is delivered', async () => (await toldOf(node, rule)).deliveries.join() === once.deliveries.join())
  t.strictSame(await toldOf(node, rule), once)
  t.equal(idsOf(rule).size, 1)
}

t.test('what the leader has found before it is killed, the next one tells', async t => {
  const { id: rule } = await addRule(first, 'warm', -15)
  const [leader, other] = await untilEvaluated(nodes, rule)
  await put(other, -10)
  await waitFor(
    'the alert fires',
    async () => (await toldOf(other, rule).catch(() => undefined))?.alerts[0] === 'firing',
  )
  await leader.end('SIGKILL')
  await waitFor('the other one leads', async () => (await findLeader([other])) === other)
  await untilToldOnce(t, other, rule)
})

t.test('what the leader is sending when it is killed, the next one sends under the same id', async t => {
  const living = nodes.filter(({ child }) => child.signalCode === null)
  const among = [...living, await startNode()]
  const { id: rule } = await addRule(among[0] as Service, 'hot', 0)
  const [leader, other] = await untilEvaluated(among, rule)
  receiver.answer = () => undefined
  await put(other, 5)
  await waitFor('it is being sent', async () => idsOf(rule).size > 0)
  await leader.end('SIGKILL')
  receiver.answer = response => void response.writeHead(204).end()
  await untilToldOnce(t, other, rule)
  t.ok(receiver.received.length > 2, 'sent by both')
})
