/** The service with requests and forwarding in processes of their own, of each as many as a bench adds. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { questdbSettings } from '../demo/cluster/database-settings.ts'
import { topicsOfShards } from '../ingest/kafka/topic-names.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { silentLog } from '../test/support/databases.ts'
import { until } from '../test/support/processes.ts'
import { type Service, startService } from '../test/support/service.ts'
import { splitShards } from '../test/support/split-shards.ts'
import { type BenchKafka, kafkaSettings } from './kafka-brokers.ts'
import type { Hooks } from './measure.ts'
import { type BenchService, startBenchService } from './service.ts'
import { type BenchStore, startBenchStore } from './store.ts'

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
  /** The process that forwards the shard now; without a number, shard 1. */
  holder(shard?: number): Promise<Service>
  /** Another process, which stands by. */
  addForwarder(): Promise<Service>
}

const dayMs = 86_400_000
const sentDaysMax = 365

/** `second`: where there is a second shard, its QuestDB. */
export async function startClusterServices(
  hooks: Hooks,
  kafka: BenchKafka,
  deviceCount: number,
  prefix = 'bench-',
  second?: QuestdbAddress,
): Promise<ClusterServices> {
  const shards = second === undefined ? 1 : 2
  for (const topic of topicsOfShards(prefix, shards)) await kafka.makeTopic(topic)
  const store = await startBenchStore(hooks, silentLog)
  const settings = {
    ...kafkaSettings(kafka),
    KAFKA_TOPIC_PREFIX: prefix,
    PUBLIC_URL: 'http://localhost',
    ...(second === undefined ? {} : await secondShard(store, second)),
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

  async function holder(shard = 1): Promise<Service> {
    let found: Service | undefined
    await until(`a process holds shard ${shard}`, async () => {
      for (const forwarder of forwarders) if (await isHolder(forwarder, shard)) found = forwarder
      return found !== undefined
    })
    if (found === undefined) throw new Error(`no process holds shard ${shard}`)
    return found
  }

  await addForwarder()
  for (let shard = 1; shard <= shards; shard++) await holder(shard)
  return { api, apis: () => apis, addApi, holder, addForwarder }
}

function processOf({ url, child }: Service): ApiProcess {
  return { port: Number(new URL(url).port), pid: child.pid ?? 0 }
}

/** Half of the devices are on it, at all times that a bench sends. */
async function secondShard({ environment }: BenchStore, address: QuestdbAddress): Promise<Record<string, string>> {
  const fromUs = (Math.floor(Date.now() / dayMs) - sentDaysMax) * dayMs * 1000
  await splitShards(environment['DATABASE_URL'] ?? '', fromUs)
  const { QUESTDB_HTTP, QUESTDB_PG } = questdbSettings(address)
  return { QUESTDB_SHARDS: `2=${QUESTDB_HTTP},${QUESTDB_PG}` }
}

async function isHolder({ url, dataDirectory, child }: Service, shard: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return false
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  return (await response.text()).includes(`\nbarograph_shard_held{shard="${shard}"} 1\n`)
}
