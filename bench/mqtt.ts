/**
 * Durable readings by MQTT at QoS 1 against a broker that stores nothing: alternating, the median of the pairs. Then it
 * verifies that QuestDB has every acknowledged row.
 *
 * Usage: node bench/mqtt.ts [clients] [pairs] [seconds]
 */

import { once } from 'node:events'
import { median } from 'simple-statistics'
import { createBounds } from './bounds.ts'
import { createHooks, hardware, ratios, spread, startProcess, stopProcess } from './measure.ts'
import type { MqttLoadOrder, MqttLoadResult } from './mqtt-load.ts'
import { type BenchService, startBenchService } from './service.ts'

const clientCount = Number(process.argv[2] ?? 100)
const pairs = Number(process.argv[3] ?? 5)
const seconds = Number(process.argv[4] ?? 4)
const rateMin = 0.5

const { hooks, closeAll } = createHooks()
const bounds = createBounds()

async function addClients({ service }: BenchService): Promise<MqttLoadOrder['clients']> {
  const names = Array.from({ length: clientCount }, (_, index) => ({ name: `sensor-${index}` }))
  const { status, body } = await service.admin('POST', '/devices', names)
  if (status !== 201) throw new Error(`the devices were not made: ${status}`)
  const payload = JSON.stringify({ temperature: 15.3, humidity: 51.5, pressure: 1013.25 })
  return (body as { device: string; password: string }[]).map(client => ({ ...client, payload }))
}

async function bench(): Promise<void> {
  const started = await startBenchService(hooks, 0, { MQTT_PORT: '0' })
  const clients = await addClients(started)
  const port = Number(/"port":(\d+)[^\n]*"msg":"MQTT listening"/.exec(started.service.output())?.[1])
  const bare = startProcess('bare-mqtt.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  const generator = startProcess('mqtt-load.ts')
  hooks.teardown(() => stopProcess(generator))
  const load = async (toPort: number, forSeconds: number): Promise<MqttLoadResult> => {
    const answered = once(generator, 'message')
    generator.send({ port: toPort, seconds: forSeconds, clients } satisfies MqttLoadOrder)
    const [result] = await answered
    return result
  }

  let { acknowledged } = await load(port, 2)
  await load(barePort, 2)
  const ours: MqttLoadResult[] = []
  const yardstick: MqttLoadResult[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const result = await load(port, seconds)
    acknowledged += result.acknowledged
    ours.push(result)
    yardstick.push(await load(barePort, seconds))
  }
  const stored = await started.store.countRows(acknowledged)
  bounds.must('all that were acknowledged are stored', stored === acknowledged)
  conclude(ours, yardstick, { acknowledged, stored })
}

function conclude(ours: MqttLoadResult[], yardstick: MqttLoadResult[], counts: object): void {
  const rate = ({ acknowledged, elapsedSeconds }: MqttLoadResult) => acknowledged / elapsedSeconds
  const rates = ratios(ours.map(rate), yardstick.map(rate))
  bounds.atLeast('readings a second, times a broker that stores nothing', median(rates), rateMin, {
    ratios: spread(rates),
    perSecond: spread(ours.map(rate)),
    brokerPerSecond: spread(yardstick.map(rate)),
    p99Ms: spread(ours.map(({ p99Ms }) => p99Ms)),
    brokerP99Ms: spread(yardstick.map(({ p99Ms }) => p99Ms)),
  })
  bounds.conclude({ bench: 'mqtt', clientCount, pairs, seconds, ...counts, hardware: hardware() })
}

try {
  await bench()
} finally {
  await closeAll()
}
