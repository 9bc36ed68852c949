/** What a node tells of devices that have readings in two shards, and what it ends of them. */

import t from 'tap'
import { readingsTable } from '../../store/tables.ts'
import { openShardNodes } from '../support/shard-nodes.ts'
import { waitFor } from '../support/wait-for.ts'

const dayMs = 86_400_000
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const splitMs = todayMs - 2 * dayMs

const nodes = await openShardNodes(t)
await nodes.split(splitMs * 1000)
await nodes.start('forward')
const api = await nodes.start('api')
const names = Array.from({ length: 8 }, (_, at) => `device-${at}`)
for (const name of names) await api.addDevice(name)
const times = [splitMs - dayMs / 2, splitMs + dayMs / 2, todayMs - 1]
const lines = names.flatMap(name => times.map(timeMs => `${new Date(timeMs).toISOString()},${name},20,50,1000`))
await api.import(['timestamp,device,temperature,humidity,pressure', ...lines].join('\n'))

/** Of readings with a temperature, in each shard. */
async function counts(of = ''): Promise<number[]> {
  const sql = `SELECT count(temperature) FROM ${readingsTable} ${of}`
  return Promise.all(nodes.questdbs.map(async questdb => Number((await questdb(sql))[0]?.[0])))
}

t.test('the fleet and the status know both shards', async t => {
  await waitFor('all is stored', async () => (await counts()).reduce((sum, count) => sum + count, 0) === lines.length)
  t.ok((await counts()).every(count => count > 0))
  interface Fleet {
    devices: { device: string; last_seen: number }[]
  }
  const fleet = async () => (await (await fetch(`${api.url}/api/fleet`)).json()) as Partial<Fleet>
  await waitFor('all are seen', async () => {
    const { devices = [] } = await fleet()
    return devices.filter(({ last_seen }) => last_seen === todayMs - 1).length === names.length
  })
  await waitFor('both are up', async () => {
    const { body } = await api.admin('GET', '/status')
    const { shards } = body as { shards: { number: number; state: string }[] }
    return shards.map(({ number, state }) => `${number} ${state}`).join() === '1 up,2 up'
  })
})

t.test('a device that has moved is erased in both', async t => {
  const moved = await (async () => {
    for (const name of names) {
      const of = `WHERE device LIKE '${name}-%'`
      if ((await counts(of)).every(count => count > 0)) return name
    }
    throw new Error('none has moved')
  })()
  const path = `/devices/${moved}/erase`
  await api.admin('POST', path)
  await waitFor(
    'it is erased',
    async () => ((await api.admin('GET', path)).body as { state?: string }).state === 'done',
  )
  t.match((await api.admin('GET', path)).body, { rows: times.length, error: null })
  t.strictSame(await counts(`WHERE device LIKE '${moved}-%'`), [0, 0])
})
