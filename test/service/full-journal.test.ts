/** A journal without room: readings are refused by HTTP and MQTT, none is lost, and all are taken when there is room again. */

import { connectAsync } from 'mqtt'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { freezeProcess } from '../support/frozen.ts'
import { reading } from '../support/mqtt.ts'
import { serverPid, until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const startMs = Date.now()

t.test('a full journal answers 503, acknowledges no message, loses nothing, and heals', async t => {
  const port = await freePort()
  const service = await startService(t, { environment: { JOURNAL_MAX: '1MiB', MQTT_PORT: String(port) } })
  const password = await service.addDevice('barn')
  const put = (temperature: number) => service.put('barn', password, { device: 'barn', temperature })
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, { username: 'barn', password, reconnectPeriod: 50 })
  client.on('error', () => undefined)
  t.teardown(() => void client.end(true))
  const questdb = serverPid({ path: service.dataDirectory }, 'questdb')
  t.equal((await put(1)).status, 200)
  freezeProcess(questdb)
  let taken = 1
  let timeMs = startMs - 50_000
  // Smaller and smaller ones, until there is no room for a reading.
  for (let count = 10_000; count >= 1; count /= 10) {
    for (let status = 200; status === 200; ) {
      const lines = Array.from({ length: count }, () => `barn,${timeMs++},2,50,1000\n`)
      const answer = await service.postImport(`device,timestamp,temperature,humidity,pressure\n${lines.join('')}`)
      taken += answer.accepted
      status = answer.status
    }
  }
  let refused = await put(2)
  while (refused.status === 200) {
    taken++
    refused = await put(2)
  }
  t.equal(refused.status, 503)
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  t.strictSame(await refused.json(), { status: 'storage full' })
  t.equal((await fetch(`${service.url}/health/ready`)).status, 503)
  let isAcknowledged = false
  const published = client.publishAsync('readings/barn', reading(2), { qos: 1 }).then(() => (isAcknowledged = true))
  const full = /^barograph_readings_rejected_total\{reason="full"\} ([3-9]|\d\d)/m
  await until('the message was refused, and came again', async () =>
    full.test(await (await fetch(`${service.url}/metrics`)).text()),
  )
  t.notOk(isAcknowledged)
  process.kill(questdb, 'SIGCONT')
  await published
  taken++
  await until('it takes readings again', async () => {
    const { status } = await put(3)
    if (status === 200) taken++
    return status === 200
  })
  const shown = async () => {
    const response = await fetch(`${service.url}/api/readings/barn?start=${startMs - 60_000}`)
    return response.status === 200 ? ((await response.json()) as object[]).length : 0
  }
  await until('all are shown', async () => (await shown()) === taken)
  t.pass('each once')
})
