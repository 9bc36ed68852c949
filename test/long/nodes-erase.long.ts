/** A device or a metric is erased while two nodes receive its readings. No erased reading returns, and all others are stored. */

import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { freeze } from '../support/frozen.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import { until } from '../support/processes.ts'
import type { Service } from '../support/service.ts'

const nodes = await openKafkaNodes(t)
const [first, second] = [await nodes.start(), await nodes.start()]
await nodes.start('forward')
const { sql } = nodes.databases
const startMs = Date.UTC(2026, 0, 1)

const row = (device: string, timestamp: number) => `${timestamp},${device},20,50,1000\n`
/** More rows than the first stored piece of a body. */
const rowsOfBody = 50_000
const header = 'timestamp,device,temperature,humidity,pressure\n'

interface Known {
  number: number
  symbol: string
}

async function seriesOf(name: string): Promise<Known> {
  const { rows } = await nodes.postgres.query<Known>('SELECT number, symbol FROM devices WHERE name = $1', [name])
  if (rows[0] === undefined) throw new Error(`there is no ${name}`)
  return rows[0]
}

const presentOf = async ({ symbol }: Known) =>
  Number((await sql(`SELECT count(temperature) FROM readings WHERE device = '${symbol}'`))[0]?.[0])

async function untilErased(node: Service, name: string): Promise<void> {
  await until('it is erased', async () => {
    const { body } = await node.admin('GET', `/devices/${name}/erase`)
    return (body as { state?: string }).state === 'done'
  })
}

/** Opens an import of CSV that is sent in pieces. */
function openImport({ url, dataDirectory }: Service) {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' }
  const sent = request(`${url}/api/admin/import`, { method: 'POST', headers })
  const answered = new Promise<number>(resolve => {
    sent.once('response', response => {
      response.resume()
      response.once('close', () => resolve(response.statusCode ?? 0))
    })
    // The node was killed.
    sent.once('error', () => resolve(0))
  })
  return {
    write: (text: string) => void sent.write(text),
    async end(): Promise<number> {
      sent.end()
      return await answered
    },
  }
}

/** Counts groups with records of an erased device behind the offset of its tombstone. */
async function countBehind({ number }: Known): Promise<number> {
  const { rows } = await nodes.postgres.query<{ before: number }>(
    'SELECT before_offset::float8 AS before FROM replica_tombstones WHERE series = $1',
    [number],
  )
  const before = rows[0]?.before ?? 0
  return (await nodes.offsetsOf(nodes.topics.readings, number)).filter(offset => offset >= before).length
}

t.test('a body in progress stores no more rows of a device after its erase at the other node', async t => {
  for (const [a, b, name] of [
    [first, second, 'attic'],
    [second, first, 'cellar'],
  ] as const) {
    await a.addDevice(name)
    await a.addDevice(`${name}-stays`)
    const [gone, stays] = [await seriesOf(name), await seriesOf(`${name}-stays`)]
    const rows = (from: number) =>
      Array.from({ length: rowsOfBody }, (_, at) =>
        row(at % 2 === 0 ? name : `${name}-stays`, startMs + from + at),
      ).join('')
    const body = openImport(b)
    body.write(header + rows(0))
    await until('the node has some', async () => (await nodes.offsetsOf(nodes.topics.readings, gone.number)).length > 0)
    t.equal((await a.admin('POST', `/devices/${name}/erase`)).status, 202)
    await untilErased(b, name)
    body.write(rows(rowsOfBody))
    t.equal(await body.end(), 200)
    await nodes.untilForwarded()
    t.equal(await presentOf(gone), 0)
    t.equal(await presentOf(stays), rowsOfBody)
    t.equal(await countBehind(gone), 0, 'nothing of it stands behind its tombstone')
  }
})

t.test('an erase at the other node covers all but requests in flight', async t => {
  const erasing = await nodes.leader([first, second])
  const other = erasing === first ? second : first
  const [broker] = nodes.kafka.brokers
  if (broker === undefined) throw new Error('no broker')
  await erasing.addDevice('loft')
  const gone = await seriesOf('loft')
  const thaw = freeze(broker.pid())
  const body = openImport(other)
  body.write(header + Array.from({ length: 3 * rowsOfBody }, (_, at) => row('loft', startMs + at)).join(''))
  // The name is resolved by then, and more bytes than a group has are read.
  await sleep(5000)
  t.equal((await erasing.admin('POST', '/devices/loft/erase')).status, 202)
  thaw()
  await untilErased(other, 'loft')
  await body.end()
  await nodes.untilForwarded()
  const groups = (await nodes.offsetsOf(nodes.topics.readings, gone.number)).length
  t.ok(groups <= 2, `what was under way, and what was next: ${groups} groups`)
  t.equal(await presentOf(gone), 0)
})

t.test('a metric removed at one node is written by neither under its number', async t => {
  const [one, other] = [await nodes.start(), await nodes.start()]
  const password = await one.addDevice('meter')
  let timestamp = startMs
  const put = async (node: Service, co2: number) => {
    const reading = { device: 'meter', timestamp: timestamp++, temperature: 20, humidity: 50, pressure: 1000, co2 }
    return (await node.put('meter', password, reading)).status
  }
  const numberOf = async () => {
    const { rows } = await nodes.postgres.query<{ number: number }>(
      `SELECT metric_series.number FROM metric_series JOIN devices ON devices.number = metric_series.device
       WHERE devices.name = 'meter'`,
    )
    return rows[0]?.number
  }
  for (const node of [one, other]) t.equal(await put(node, 400), 200)
  const number = await numberOf()
  await nodes.untilForwarded()
  const valuesOf = async (series: number | undefined) =>
    (await sql(`SELECT value FROM measurements WHERE series = ${series} AND value IS NOT NULL ORDER BY ts`)).flat()
  t.strictSame(await valuesOf(number), [400, 400])
  t.equal((await one.admin('DELETE', '/devices/meter/metrics/co2')).status, 202)
  t.equal(await put(other, 500), 200)
  t.equal(await put(one, 600), 200)
  await until('it is erased', async () => {
    const { body } = await other.admin('GET', '/devices/meter/metrics/co2')
    return (body as { state?: string }).state === 'done'
  })
  await nodes.untilForwarded()
  t.strictSame(await valuesOf(number), [])
  const next = await numberOf()
  t.not(next, number)
  t.strictSame(await valuesOf(next), [500, 600], 'the same metric under another number')
})
