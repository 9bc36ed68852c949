/** Devices published for Home Assistant, at a broker in a separate process. */

import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import type { LatestOfDevice } from '../../query/live/fleet-shape.ts'
import { openHomeAssistant } from '../../service/home-assistant/home-assistant.ts'
import { catalogue } from '../../store/metrics/catalogue.ts'
import { recordingLog } from '../support/databases.ts'
import { connectClient } from '../support/mqtt.ts'
import { messageOf } from '../support/processes.ts'
import { waitFor } from '../support/wait-for.ts'

async function startBroker(t: Test, port = 0) {
  const child = fork(join(import.meta.dirname, '..', 'support', 'mqtt-broker.ts'), [String(port)], { stdio: 'inherit' })
  t.teardown(() => child.kill())
  const opened = await messageOf<number>(child)
  const stop = () => new Promise<void>(resolve => void child.once('exit', () => resolve()).kill())
  return { url: `mqtt://127.0.0.1:${opened}`, port: opened, stop }
}

/** The retained messages of a broker, as they change. */
async function watch(t: Test, url: string): Promise<Map<string, string>> {
  const retained = new Map<string, string>()
  const client = await connectClient(t, url)
  client.on('message', (topic, payload) => {
    if (payload.length === 0) retained.delete(topic)
    else retained.set(topic, payload.toString())
  })
  await client.subscribeAsync('#', { qos: 1 })
  return retained
}

type Values = Record<string, number>

/** A service with devices in memory. */
function openService(t: Test, url: string) {
  const devices = new Map<number, { number: number; symbol: string; name: string }>()
  const values = new Map<number, { state: LatestOfDevice['state']; values: Values }>()
  let changed: (device: { number: number }) => void = () => undefined
  let stored: (readings: object) => void = () => undefined
  const { log, texts } = recordingLog('warn')
  const open = () => {
    const homeAssistant = openHomeAssistant({
      address: { url, protocolVersion: 4, clientId: 'barograph' },
      devices: {
        all: () => [...devices.values()],
        byNumber: (number: number) => devices.get(number),
        onChange: (listener: typeof changed) => {
          changed = listener
        },
      } as never,
      metrics: {
        get: (name: string) => ({ ...catalogue.find(metric => metric.name === name), built_in: true }),
      } as never,
      live: {
        isLoaded: () => true,
        onState: () => undefined,
        latest: (number: number) => {
          const { state = 'never', values: each = {} } = values.get(number) ?? {}
          return { state, values: Object.fromEntries(Object.entries(each).map(([name, v]) => [name, { v }])) }
        },
      } as never,
      ingest: {
        onStored: (listener: typeof stored) => {
          stored = listener
        },
      } as never,
      leads: () => true,
      publicUrl: 'http://10.0.0.1:8080',
      log,
      tickMs: 20,
    })
    t.teardown(homeAssistant.close)
    return homeAssistant
  }
  return {
    open,
    texts,
    add(number: number, name: string) {
      devices.set(number, { number, name, symbol: `${name}-${number}` })
      changed({ number })
    },
    remove(number: number) {
      devices.delete(number)
      values.delete(number)
      changed({ number })
    },
    take(number: number, each: Values, state: LatestOfDevice['state'] = 'fresh') {
      values.set(number, { state, values: each })
      const left = [{ series: number }]
      const readings = { series: 0, next: () => left.length > 0 && Object.assign(readings, left.pop()) !== undefined }
      stored(readings)
    },
  }
}

const topicOf = (metric: string, platform = 'sensor', symbol = 'porch-1') =>
  `homeassistant/${platform}/barograph_${symbol}/${metric}/config`
const stateTopic = 'barograph/devices/porch-1'
const settled = (retained: Map<string, string>, size: number) =>
  waitFor(`there are ${size} retained messages`, () => retained.size === size)

test('a device has a configuration for each metric, one state with all values, and an availability', async t => {
  const { url } = await startBroker(t)
  const retained = await watch(t, url)
  const service = openService(t, url)
  const homeAssistant = service.open()
  service.add(1, 'porch')
  service.add(2, 'attic')
  service.take(1, { temperature: 21.5, door: 1 })
  await settled(retained, 5)
  t.equal(retained.get('barograph/status'), 'online')
  t.strictSame(JSON.parse(retained.get(stateTopic) ?? ''), { temperature: 21.5, door: 1 })
  t.equal(retained.get(`${stateTopic}/availability`), 'online')
  t.match(JSON.parse(retained.get(topicOf('temperature')) ?? ''), {
    name: 'Temperature',
    unique_id: 'barograph_porch-1_temperature',
    state_topic: stateTopic,
    value_template: '{{ value_json.temperature }}',
    unit_of_measurement: '°C',
    device_class: 'temperature',
    state_class: 'measurement',
    availability: [{ topic: 'barograph/status' }, { topic: `${stateTopic}/availability` }],
    availability_mode: 'all',
    device: {
      identifiers: ['barograph_porch-1'],
      name: 'porch',
      configuration_url: 'http://10.0.0.1:8080/device/porch',
    },
  })
  t.match(JSON.parse(retained.get(topicOf('door', 'binary_sensor')) ?? ''), { payload_on: '1', device_class: 'door' })
  service.take(1, { temperature: 22 }, 'silent')
  await waitFor('it is silent', () => retained.get(`${stateTopic}/availability`) === 'offline')
  t.strictSame(JSON.parse(retained.get(stateTopic) ?? ''), { temperature: 22, door: null }, 'the entity stays')
  await homeAssistant.close()
  await waitFor('the will came', () => retained.get('barograph/status') === 'offline')
})

test('messages of removed devices go, also of those that were removed before a start', async t => {
  const { url } = await startBroker(t)
  const retained = await watch(t, url)
  const service = openService(t, url)
  const first = service.open()
  service.add(1, 'porch')
  service.add(2, 'attic')
  service.take(1, { temperature: 21.5 })
  service.take(2, { temperature: 20, humidity: 40 })
  await settled(retained, 8)
  service.remove(2)
  await settled(retained, 4)
  await first.close()
  service.remove(1)
  // The number of a removed device in another registry.
  service.add(1, 'shed')
  service.take(1, { humidity: 50 })
  service.open()
  await waitFor('the new device is there', () => retained.has(topicOf('humidity', 'sensor', 'shed-1')))
  await settled(retained, 4)
  t.strictSame(
    [...retained.keys()].filter(topic => topic.includes('porch')),
    [],
  )
})

test('without the broker only the latest values wait, and a new one gets everything', async t => {
  const broker = await startBroker(t)
  const before = await watch(t, broker.url)
  const service = openService(t, broker.url)
  service.open()
  service.add(1, 'porch')
  service.take(1, { temperature: 1 })
  await settled(before, 4)
  await broker.stop()
  for (let value = 2; value <= 50; value++) service.take(1, { temperature: value })
  await waitFor('the outage is logged', () => service.texts.length > 0)
  await startBroker(t, broker.port)
  const states: string[] = []
  const client = await connectClient(t, broker.url)
  client.on('message', (_topic, payload) => states.push(payload.toString()))
  await client.subscribeAsync(stateTopic, { qos: 1 })
  await waitFor('the state is there', () => states.length > 0)
  t.strictSame(states, ['{"temperature":50}'])
  t.match(service.texts, [/cannot publish devices for Home Assistant/])
})
