/** Readings of two shards, each with topics and a QuestDB of its own: each reading comes to the one that the placement says. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { oneShard, type Placement, shardAt } from '../../placement/placement.ts'
import { readingsTable } from '../../store/tables.ts'
import { makePerson } from '../support/people.ts'
import type { Service } from '../support/service.ts'
import { openShardNodes } from '../support/shard-nodes.ts'
import { waitFor } from '../support/wait-for.ts'

const dayMs = 86_400_000
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const splitMs = todayMs - 2 * dayMs

const nodes = await openShardNodes(t)
const epoch = await nodes.split(splitMs * 1000)
const placement: Placement = [...oneShard, epoch]
// Shard 2 is free when both are there: a process that is alone for long has all shards.
const letGo = await nodes.holdShard('s2')
const [forwarder, other] = await Promise.all([nodes.start('forward'), nodes.start('forward')])
await letGo()
const api = await nodes.start('api')

const names = Array.from({ length: 12 }, (_, at) => `device-${at}`)
const passwords = new Map<string, string>()
for (const name of names) passwords.set(name, await api.addDevice(name))
const { rows: registered } = await nodes.postgres.query<{ name: string; number: number }>(
  'SELECT name, number::int AS number FROM devices',
)
const numberOf = new Map(registered.map(({ name, number }) => [name, number]))
const shardOf = (name: string, timeMs: number) => shardAt(placement, numberOf.get(name) ?? 0, timeMs * 1000)

/** The temperatures of both QuestDBs, by which readings are told apart here. */
async function stored(): Promise<number[][]> {
  const sql = `SELECT temperature FROM ${readingsTable} ORDER BY temperature`
  return Promise.all(nodes.questdbs.map(async questdb => (await questdb(sql)).map(([value]) => Number(value))))
}

const expected: [number[], number[]] = [[], []]
let temperature = 0
/** A temperature that no other reading has, which is expected where the reading belongs. */
function next(name: string, timeMs: number): number {
  temperature++
  expected[shardOf(name, timeMs) - 1]?.push(temperature)
  return temperature
}

async function put(name: string): Promise<void> {
  const reading = { device: name, temperature: next(name, Date.now()), humidity: 50, pressure: 1000 }
  const { status } = await api.put(name, passwords.get(name) ?? '', reading)
  if (status !== 200) throw new Error(`answered with ${status}`)
}

async function untilStored(t: Test, what: string): Promise<void> {
  await waitFor(what, async () => (await stored()).flat().length >= temperature)
  t.strictSame(await stored(), expected, what)
}

const heldBy = async ({ url, dataDirectory }: Service): Promise<string[]> => {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
  return [...text.matchAll(/^barograph_shard_held\{shard="(\d+)"\} 1$/gm)].map(([, shard]) => String(shard))
}

t.test('two processes that forward share two shards', async t => {
  await waitFor('both shards are held', async () => {
    return (await Promise.all([forwarder, other].map(heldBy))).flat().length === 2
  })
  t.strictSame(
    (await Promise.all([forwarder, other].map(heldBy))).map(held => held.length),
    [1, 1],
  )
})

t.test('readings come to the shard of their device, and nowhere else', async t => {
  t.strictSame(new Set(names.map(name => shardOf(name, todayMs))), new Set([1, 2]), 'there are devices on both')
  for (const name of names) await put(name)
  await untilStored(t, 'live readings')
})

t.test('a body for both shards is cut, and a reading of before the epoch goes to where its device was', async t => {
  const header = 'timestamp,device,temperature,humidity,pressure'
  const times = [splitMs - 1, splitMs, splitMs - dayMs, splitMs + dayMs]
  const lines = names.flatMap(name =>
    times.map(timeMs => `${new Date(timeMs).toISOString()},${name},${next(name, timeMs)},50,1000`),
  )
  await api.import([header, ...lines].join('\n'))
  await untilStored(t, 'a body')
})

t.test('a strict body for both shards is refused as a whole, and one for one shard is stored', async t => {
  const timeMs = todayMs - 1
  const [one] = names
  const two = names.find(name => shardOf(name, timeMs) !== shardOf(one ?? '', timeMs))
  const timestamp = new Date(timeMs).toISOString()
  const send = async (...readings: object[]) => {
    const { id } = await makePerson(api, { role: 'administrator' })
    const { body } = await api.admin('POST', '/keys', { account: id, name: 'k', scopes: ['ingest'] })
    const response = await fetch(`${api.url}/api/log/batch?strict=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${(body as { key: string }).key}`, 'content-type': 'application/json' },
      body: JSON.stringify(readings),
    })
    return { status: response.status, body: await response.json() }
  }
  const reading = (device = '', value = -1) => ({
    device,
    timestamp,
    temperature: value,
    humidity: 50,
    pressure: 1000,
  })
  t.match(await send(reading(one), reading(two)), {
    status: 400,
    body: { status: 'readings rejected', stored: 0, detail: /^the readings are of several shards/ },
  })
  t.match(await send(reading(one, next(one ?? '', timeMs))), { status: 200, body: { stored: 1 } })
  await untilStored(t, 'the strict body')
})

t.test('a process that is alone takes the shard of one that was killed', async t => {
  await forwarder.end('SIGKILL')
  for (const name of names) await put(name)
  await untilStored(t, 'readings of after the kill')
  t.strictSame(await heldBy(other), ['1', '2'])
})

t.test('a process without the second QuestDB takes no reading, answers no read of it, and says why', async t => {
  const alone = await nodes.start('api', { QUESTDB_SHARDS: '' })
  const answer = await alone.put('device-0', passwords.get('device-0') ?? '', {
    device: 'device-0',
    temperature: 1,
    humidity: 50,
    pressure: 1000,
  })
  t.equal(answer.status, 503)
  await answer.body?.cancel()
  const ready = await fetch(`${alone.url}/health/ready`)
  t.match(await ready.text(), 'there are 2 shards, and QUESTDB_SHARDS of this process names those up to 1')
  const today = new Date(todayMs).toISOString().slice(0, 10)
  for (const shard of [1, 2]) {
    const name = names.find(name => shardOf(name, todayMs) === shard)
    const statusOfDay = async () => {
      const day = await fetch(`${alone.url}/api/data/day/${name}/${today}`)
      await day.body?.cancel()
      return day.status
    }
    if (shard === 1) await waitFor('the first QuestDB answers', async () => (await statusOfDay()) === 200)
    else t.equal(await statusOfDay(), 503)
  }
  t.strictSame(await stored(), expected)
})
