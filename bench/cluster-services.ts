/** The service with requests and forwarding in processes of their own, of each as many as a bench adds. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { topicsOf } from '../ingest/kafka/client/names.ts'
import { silentLog } from '../test/support/databases.ts'
import { until } from '../test/support/processes.ts'
import { type Service, startService } from '../test/support/service.ts'
import { bodiesOf, bulkTargetOf, postAll } from './bulk-load.ts'
import type { FleetPlan } from './fleet.ts'
import { type BulkFormat, bulkFormats } from './ingest-formats.ts'
import { type BenchKafka, kafkaSettings } from './kafka-brokers.ts'
import { assertAllTaken, type Hooks, runLoad, startProcess, stopProcess } from './measure.ts'
import { type BenchService, startBenchService } from './service.ts'
import { startBenchStore } from './store.ts'

interface ApiProcess {
  port: number
  pid: number
}

export interface ClusterServices {
  /** The first process that takes requests. */
  api: BenchService
  apis(): readonly ApiProcess[]
  /** Another process that takes requests. */
  addApi(): Promise<void>
  /** The process that forwards now. */
  holder(): Promise<Service>
  /** Another process, which stands by. */
  addForwarder(): Promise<Service>
}

export async function startClusterServices(
  hooks: Hooks,
  kafka: BenchKafka,
  deviceCount: number,
  prefix = 'bench-',
  more: Record<string, string> = {},
): Promise<ClusterServices> {
  for (const topic of Object.values(topicsOf(prefix))) await kafka.makeTopic(topic)
  const store = await startBenchStore(hooks, silentLog)
  const settings = {
    ...kafkaSettings(kafka),
    KAFKA_TOPIC_PREFIX: prefix,
    PUBLIC_URL: 'http://localhost',
    ...more,
  }
  const api = await startBenchService(hooks, deviceCount, settings, ['--role', 'api'], store)
  const apis = [processOf(api.service)]
  const commandOf = (role: string): [string, ...string[]] => [process.execPath, 'service/main.ts', '--role', role]
  const forwarders: Service[] = []

  async function addForwarder(): Promise<Service> {
    const forwarder = await startService(hooks, { environment: api.environment, command: commandOf('forward') })
    forwarders.push(forwarder)
    return forwarder
  }

  async function addApi(): Promise<void> {
    const environment = { ...api.environment, SECRETS_DIR: join(api.service.dataDirectory, 'secrets') }
    apis.push(processOf(await startService(hooks, { environment, command: commandOf('api') })))
  }

  async function holder(): Promise<Service> {
    let found: Service | undefined
    await until('a process forwards', async () => {
      for (const forwarder of forwarders) if (await isHolder(forwarder)) found = forwarder
      return found !== undefined
    })
    if (found === undefined) throw new Error('no process forwards')
    return found
  }

  await addForwarder()
  await holder()
  return { api, apis: () => apis, addApi, holder, addForwarder }
}

function processOf({ url, child }: Service): ApiProcess {
  return { port: Number(new URL(url).port), pid: child.pid ?? 0 }
}

async function isHolder({ url, dataDirectory, child }: Service): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return false
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  return (await response.text()).includes('\nbarograph_forwarder_held{replica="1"} 1\n')
}

/** Requests of the processor-time benches in two sizes. */
export interface Receiver {
  service: BenchService
  /** One key per connection, for bulk bodies. */
  keys: readonly string[]
}

/** Resolves with the number of acknowledged readings. `share` 1 is the larger size. */
export type Send = (to: Receiver, share: number) => Promise<number>

export const bulkConnectionCount = 4
const connections = 64
const rowsPerBody = 10_000
const stepMs = 60_000

/** Single readings for so long. */
export async function createSingleSend(hooks: Hooks, seconds: number): Promise<Send> {
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  return async ({ service: { port, requests } }, share) => {
    const order = { host: '127.0.0.1', port, connections, seconds: share * seconds, requests }
    const result = await runLoad(generator, order)
    assertAllTaken(result)
    return result.answers
  }
}

/** Bodies of line protocol. Each run is later than its predecessors. */
export function createBulkSend({ rows, deviceCount }: { rows: number; deviceCount: number }, runs: number): Send {
  const format = bulkFormats['line-protocol'] as BulkFormat
  const runsMs = Math.ceil(rows / deviceCount) * stepMs
  let endMs = Math.floor(Date.now() / stepMs) * stepMs - runs * runsMs
  return async ({ service: { port }, keys }, share) => {
    const startMs = endMs
    endMs += runsMs
    const plan: FleetPlan = {
      devices: deviceCount,
      rows: Math.ceil(share * rows),
      seed: 1,
      order: 'time',
      startMs,
      endMs,
    }
    await postAll(bulkTargetOf(port, keys, format), bodiesOf(plan, rowsPerBody, format.body))
    return plan.rows
  }
}
