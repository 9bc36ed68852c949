/** A device or a metric that is erased while two nodes take its readings: nothing of it comes back, and all else is stored. */

import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import { until } from '../support/processes.ts'
import type { Service } from '../support/service.ts'

const nodes = await openKafkaNodes(t)
const [first, second] = [await nodes.start(), await nodes.start()]
await nodes.start('forward')
const { sql } = nodes.databases
const startMs = Date.UTC(2026, 0, 1)

const row = (device: string, timestamp: number) => `${timestamp},${device},20,50,1000\n`
/** More than the first piece of a body that is stored. */
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

/** CSV that is sent in pieces. */
function openImport({ url, dataDirectory }: Service) {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' }
  const sent = request(`${url}/api/admin/import`, { method: 'POST', headers })
  const answered = new Promise<number>(resolve => {
    sent.once('response', response => {
      response.resume()
      response.once('close', () => resolve(response.statusCode ?? 0))
    })
    // Of a node that was killed.
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

t.test('a body that knew a device before it was erased at the other node stores nothing more of it', async t => {
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
    const { rows: tombstones } = await nodes.postgres.query<{ before: number }>(
      'SELECT before_offset::float8 AS before FROM shard_tombstones WHERE series = $1',
      [gone.number],
    )
    const last = (await nodes.offsetsOf(nodes.topics.readings, gone.number)).at(-1) ?? 0
    t.ok(last < (tombstones[0]?.before ?? 0), 'nothing of it stands behind its tombstone')
  }
})
