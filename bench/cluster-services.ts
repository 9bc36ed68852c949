/** The service with requests and forwarding in processes of their own, of each as many as a bench adds. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import { silentLog } from '../test/support/databases.ts'
import { until } from '../test/support/processes.ts'
import { type Service, startService } from '../test/support/service.ts'
import { type BenchKafka, kafkaSettings } from './kafka-brokers.ts'
import type { Hooks } from './measure.ts'
import { type BenchService, startBenchService } from './service.ts'
import { startBenchStore } from './store.ts'

export interface ApiProcess {
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
