/** A metric of a device that is erased while it is sent: the service dies at each dangerous moment of it, and nothing comes back. */

import { once } from 'node:events'
import t from 'tap'
import { erasePoints, injecting } from '../faults/injection/settings.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { dataDirectoryPath } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const dataDirectory = await dataDirectoryPath(t, false)
const count = 20
const device = 'porch'

async function isUp({ admin }: Service): Promise<boolean> {
  const { body } = await admin('GET', '/status')
  const { questdb, lag } = body as { questdb: { state: string }; lag: { readings: number } }
  return questdb.state === 'up' && lag.readings === 0
}

/** Readings of a time of their own, each with the values 1 of co2 and 2 of lux; those that are acknowledged. */
async function send({ put }: Service, password: string, fromMs: number): Promise<number> {
  let acknowledged = 0
  for (let index = 0; index < count; index++) {
    const reading = { device, temperature: 20, humidity: 50, pressure: 1000, co2: 1, lux: 2 }
    const answer = await put(device, password, { ...reading, timestamp: fromMs + index * 1000 }).catch(() => undefined)
    if (answer?.status === 200) acknowledged++
  }
  return acknowledged
}

const shown = async (value: number) =>
  Number((await askQuestdb(dataDirectory, `SELECT count() FROM measurements WHERE value = ${value}`))[0]?.[0])

t.test('nothing of a metric that was erased is readable again, wherever the service dies', async t => {
  let service = await startService(t, { dataDirectory })
  const password = await service.addDevice(device)
  let lux = 0
  let fromMs = Date.now() - 20 * 3_600_000
  for (const point of erasePoints) {
    lux += await send(service, password, fromMs)
    await until('all is shown', async () => (await isUp(service)) && (await shown(2)) === lux)
    const [[series] = []] = await askQuestdb(dataDirectory, 'SELECT max(series) FROM measurements WHERE value = 1')
    t.equal(await service.end('SIGTERM'), 0)

    const environment = injecting({ FAIL_POINT: `${point}:1`, FAIL_ROWS: 'readings' })
    const dying = await startService(t, { dataDirectory, environment })
    await until('QuestDB is up', () => isUp(dying))
    const exited = once(dying.child, 'exit')
    await dying.admin('DELETE', `/devices/${device}/metrics/co2`).catch(() => undefined)
    const sending = send(dying, password, fromMs + 3_600_000)
    await exited
    lux += await sending

    service = await startService(t, { dataDirectory })
    await until(`it is erased after a death at ${point}`, async () => {
      const { body } = await service.admin('GET', `/devices/${device}/metrics/co2`)
      return (body as { state?: string }).state === 'done'
    })
    await until('all is shown', async () => (await isUp(service)) && (await shown(2)) >= lux)
    // What came behind the removal has another number, and may be there.
    const { body } = await service.admin('GET', `/devices/${device}/metrics/co2`)
    t.match(body, { error: null, rows: Number }, point)
    const erased = `SELECT count(value) FROM measurements WHERE series = ${series}`
    t.strictSame(await askQuestdb(dataDirectory, erased), [[0]], point)
    lux = await shown(2)
    fromMs += 2 * 3_600_000
  }
})
