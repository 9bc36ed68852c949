/**
 * Durable readings by MQTT at QoS 1 against a broker that stores nothing, and messages of Zigbee2MQTT against the same
 * values in our own JSON: alternating, the median of the pairs. Then it verifies that QuestDB has every acknowledged
 * row.
 *
 * Usage: node bench/mqtt.ts [clients] [pairs] [seconds]
 */

import { once } from 'node:events'
import { median } from 'simple-statistics'
import { startBench } from './bounds.ts'
import { ratios, spread, startProcess, stopProcess } from './measure.ts'
import type { MqttLoadOrder, MqttLoadResult } from './mqtt-load.ts'
import { type BenchService, startBenchService } from './service.ts'

const clientCount = Number(process.argv[2] ?? 100)
const pairs = Number(process.argv[3] ?? 5)
const seconds = Number(process.argv[4] ?? 4)
const rateMin = 0.5
const decodedRateMin = 0.7

const { hooks, bounds, run } = startBench()

/** Zigbee2MQTT publishes this for a sensor of temperature and humidity with the usual settings. */
const zigbee = {
  battery: 91,
  humidity: 51.5,
  last_seen: '2026-01-01T12:00:00+01:00',
  linkquality: 120,
  pressure: 1013.25,
  temperature: 15.3,
  update: { installed_version: 16777241, latest_version: 16777241, state: 'idle' },
  voltage: 3005,
}
const { last_seen, update, battery, voltage, ...same } = zigbee
const ownJson = { ...same, battery_percentage: battery, battery_voltage: voltage / 1000 }

async function addClients({ service }: BenchService): Promise<MqttLoadOrder['clients']> {
  const names = Array.from({ length: clientCount }, (_, index) => ({ name: `sensor-${index}` }))
  const { status, body } = await service.admin('POST', '/devices', names)
  if (status !== 201) throw new Error(`the devices were not made: ${status}`)
  const payload = JSON.stringify({ temperature: 15.3, humidity: 51.5, pressure: 1013.25 })
  return (body as { device: string; password: string }[]).map(client => ({ ...client, payload }))
}

async function bench(): Promise<void> {
  const started = await startBenchService(hooks, 0, { MQTT_PORT: '0', MQTT_DECODERS: 'zigbee2mqtt=zigbee2mqtt/#' })
  const clients = await addClients(started)
  const port = Number(/"port":(\d+)[^\n]*"msg":"MQTT listening"/.exec(started.service.output())?.[1])
  const bare = startProcess('bare-mqtt.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  const generator = startProcess('mqtt-load.ts')
  hooks.teardown(() => stopProcess(generator))
  const load = async (
    toPort: number,
    forSeconds: number,
    more: Partial<MqttLoadOrder> = {},
  ): Promise<MqttLoadResult> => {
    const answered = once(generator, 'message')
    generator.send({ port: toPort, seconds: forSeconds, clients, ...more } satisfies MqttLoadOrder)
    const [result] = await answered
    return result
  }
  const withPayload = (body: object) => clients.map(client => ({ ...client, payload: JSON.stringify(body) }))
  const asZigbee = { topicPrefix: 'zigbee2mqtt/', clients: withPayload({ ...zigbee, last_seen: undefined }) }
  const asOwn = { clients: withPayload(ownJson) }

  let { acknowledged } = await load(port, 2)
  await load(barePort, 2)
  acknowledged += (await load(port, 2, asZigbee)).acknowledged + (await load(port, 2, asOwn)).acknowledged
  const decoded: MqttLoadResult[] = []
  const sameValues: MqttLoadResult[] = []
  const ours: MqttLoadResult[] = []
  const yardstick: MqttLoadResult[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const result = await load(port, seconds)
    acknowledged += result.acknowledged
    ours.push(result)
    yardstick.push(await load(barePort, seconds))
    const inTurns = [
      [decoded, asZigbee],
      [sameValues, asOwn],
    ] as const
    for (const [results, order] of pair % 2 === 0 ? inTurns : inTurns.toReversed()) {
      const result = await load(port, seconds, order)
      acknowledged += result.acknowledged
      results.push(result)
    }
  }
  const stored = await started.store.countRows(acknowledged)
  bounds.must('all that were acknowledged are stored', stored === acknowledged)
  const decodedRates = ratios(decoded.map(rateOf), sameValues.map(rateOf))
  bounds.atLeast(
    'messages of Zigbee2MQTT a second, times their values in our own JSON',
    median(decodedRates),
    decodedRateMin,
    {
      ratios: spread(decodedRates),
      perSecond: spread(decoded.map(rateOf)),
      ownPerSecond: spread(sameValues.map(rateOf)),
    },
  )
  conclude(ours, yardstick, { acknowledged, stored })
}

const rateOf = ({ acknowledged, elapsedSeconds }: MqttLoadResult) => acknowledged / elapsedSeconds

function conclude(ours: MqttLoadResult[], yardstick: MqttLoadResult[], counts: object): void {
  const rates = ratios(ours.map(rateOf), yardstick.map(rateOf))
  bounds.atLeast('readings a second, times a broker that stores nothing', median(rates), rateMin, {
    ratios: spread(rates),
    perSecond: spread(ours.map(rateOf)),
    brokerPerSecond: spread(yardstick.map(rateOf)),
    p99Ms: spread(ours.map(({ p99Ms }) => p99Ms)),
    brokerP99Ms: spread(yardstick.map(({ p99Ms }) => p99Ms)),
  })
  bounds.conclude({ bench: 'mqtt', clientCount, pairs, seconds, ...counts })
}

await run(bench)
