/** Readings by MQTT through the whole service: published to it, and to an outside broker. */

import { fork } from 'node:child_process'
import { join } from 'node:path'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import tap, { type Test } from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { eventOf, reading } from '../support/mqtt.ts'
import { messageOf, until } from '../support/processes.ts'
import { type Service, startService, withoutQuestdb } from '../support/service.ts'

async function startBroker(t: Test): Promise<string> {
  const child = fork(join(import.meta.dirname, '..', 'support', 'mqtt-broker.ts'), { stdio: 'inherit' })
  t.teardown(() => child.kill())
  const port = await messageOf<number>(child)
  return `mqtt://127.0.0.1:${port}`
}

async function connect(t: Test, url: string, options: IClientOptions = {}): Promise<MqttClient> {
  const client = await connectAsync(url, { reconnectPeriod: 50, clean: false, clientId: 'test', ...options })
  client.on('error', () => undefined)
  t.teardown(() => void client.end(true))
  return client
}

/** Temperatures that the service shows for the device on the day of this time. */
async function shown(service: Service, device: string, timeMs: number): Promise<number[]> {
  const response = await fetch(`${service.url}/api/data/day/${device}/${new Date(timeMs).toISOString().slice(0, 10)}`)
  if (response.status !== 200) return []
  const day = (await response.json()) as { temperature: { v: number }[] }
  return day.temperature.map(({ v }) => v).sort((a, b) => a - b)
}

async function metric(service: Service, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const line = text.split('\n').find(candidate => candidate.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

tap.test(
  'every acknowledged reading survives a kill of everything, and so does all that an outside broker has',
  async t => {
    const port = await freePort()
    const broker = await startBroker(t)
    const environment = { MQTT_PORT: String(port), MQTT_BROKER_URL: broker }
    const first = await startService(t, { environment })
    const password = await first.addDevice('porch')
    await first.addDevice('barn')
    const timeMs = Date.now() - 60_000
    const timed = (index: number) => reading(index / 100, { timestamp: timeMs + index })
    const direct = await connect(t, `mqtt://127.0.0.1:${port}`, { username: 'porch', password })
    const byBroker = await connect(t, broker)
    const count = 300
    const acknowledged: Promise<unknown>[] = []
    let taken = 0
    for (let index = 0; index < count; index++) {
      const sent = direct.publishAsync('readings/porch', timed(index), { qos: 1 })
      acknowledged.push(sent.then(() => taken++))
      await byBroker.publishAsync('readings/barn', timed(index), { qos: 1 })
      if (index === count / 2) {
        await until('some were acknowledged', () => taken > count / 4)
        await first.killAll()
      }
    }
    const second = await startService(t, { environment, dataDirectory: first.dataDirectory })
    await Promise.all(acknowledged)
    const expected = Array.from({ length: count }, (_, index) => index / 100)
    for (const device of ['porch', 'barn']) {
      await until(`all of ${device} are shown`, async () => (await shown(second, device, timeMs)).length >= count)
      t.strictSame(await shown(second, device, timeMs), expected, `${device}: each once`)
    }
    // A kept session delivers before its subscription is answered.
    await until('the broker is connected', async () => (await metric(second, 'barograph_mqtt_broker_connected')) === 1)
    await until('one client is', async () => (await metric(second, 'barograph_mqtt_connections')) === 1)
    await direct.publishAsync('readings/porch', 'no JSON', { qos: 1 })
    const invalid = 'barograph_readings_rejected_total{reason="invalid"}'
    await until('it is counted', async () => (await metric(second, invalid)) === 1)

    const closed = eventOf(direct, 'close')
    const rotated = await second.admin('POST', '/devices/porch/rotate?now=1')
    t.equal(rotated.status, 200)
    await closed
    const { password: newPassword } = rotated.body as { password: string }
    await t.rejects(connectAsync(`mqtt://127.0.0.1:${port}`, { username: 'porch', password, reconnectPeriod: 0 }))
    const renewed = await connect(t, `mqtt://127.0.0.1:${port}`, {
      username: 'porch',
      password: newPassword,
      clientId: 'renewed',
      reconnectPeriod: 0,
    })
    const ended = eventOf(renewed, 'close')
    t.equal((await second.admin('DELETE', '/devices/porch')).status, 204)
    await ended
    await until('nothing is wrong', async () => {
      return ((await (await fetch(`${second.url}/health/ready`)).json()) as { status: string }).status === 'ok'
    })
  },
)

tap.test('a full journal acknowledges nothing, and what was not acknowledged is taken when there is room', async t => {
  const port = await freePort()
  const environment = { ...withoutQuestdb, MQTT_PORT: String(port) }
  const full = await startService(t, { environment: { ...environment, JOURNAL_MAX: '1MiB' } })
  const password = await full.addDevice('barn')
  const client = await connect(t, `mqtt://127.0.0.1:${port}`, { username: 'barn', password })
  await client.publishAsync('readings/barn', reading(1), { qos: 1 })
  await fill(full, 'barn')
  let isTaken = false
  const published = client.publishAsync('readings/barn', reading(2), { qos: 1 }).then(() => {
    isTaken = true
  })
  const refused = 'barograph_readings_rejected_total{reason="full"}'
  await until('it was refused, and came again', async () => (await metric(full, refused)) >= 2)
  t.notOk(isTaken)
  await full.end('SIGTERM')
  const second = await startService(t, { environment, dataDirectory: full.dataDirectory })
  await published
  t.equal(await metric(second, 'barograph_readings_accepted_total'), 1)
})

/** Imports, smaller and smaller ones, until the journal has no room for one reading. */
async function fill(service: Service, device: string): Promise<void> {
  let timeMs = Date.now() - 60_000
  for (let count = 10_000; count >= 1; count /= 10) {
    for (let status = 200; status === 200; ) {
      const lines = Array.from({ length: count }, () => `${device},${timeMs++},2,50,1000\n`)
      status = (await service.postImport(`device,timestamp,temperature,humidity,pressure\n${lines.join('')}`)).status
    }
  }
}
