/** The service with requests and forwarding in processes of their own: one `--role api` and two `--role forward`, one of which stands by. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import { until } from '../test/support/processes.ts'
import { type Service, startService } from '../test/support/service.ts'
import { type BenchKafka, kafkaSettings } from './kafka-brokers.ts'
import type { Hooks } from './measure.ts'
import { type BenchService, startBenchService } from './service.ts'

export interface ClusterServices {
  api: BenchService
  /** The process that forwards the shard now. */
  holder(): Promise<Service>
  /** Another process, which stands by. */
  addForwarder(): Promise<Service>
}

export async function startClusterServices(
  hooks: Hooks,
  kafka: BenchKafka,
  deviceCount: number,
): Promise<ClusterServices> {
  const prefix = 'bench-'
  for (const topic of Object.values(topicsOf(prefix, 1))) await kafka.makeTopic(topic)
  const settings = { ...kafkaSettings(kafka), KAFKA_TOPIC_PREFIX: prefix }
  const api = await startBenchService(hooks, deviceCount, settings, ['--role', 'api'])
  const command: [string, ...string[]] = [process.execPath, 'service/main.ts', '--role', 'forward']
  const forwarders: Service[] = []

  async function addForwarder(): Promise<Service> {
    const forwarder = await startService(hooks, { environment: api.environment, command })
    forwarders.push(forwarder)
    return forwarder
  }

  async function holder(): Promise<Service> {
    let found: Service | undefined
    await until('a process holds the shard', async () => {
      for (const forwarder of forwarders) if (await isHolder(forwarder)) found = forwarder
      return found !== undefined
    })
    if (found === undefined) throw new Error('no process holds the shard')
    return found
  }

  await addForwarder()
  await holder()
  return { api, holder, addForwarder }
}

async function isHolder({ url, dataDirectory, child }: Service): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return false
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  return /^barograph_shard_held 1$/m.test(await response.text())
}
