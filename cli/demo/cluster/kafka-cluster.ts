/** A Kafka of one or three brokers on this machine, with data of its own. */

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JarOptions } from '../../../store/maven/maven-fetch.ts'
import { freePort } from '../../../store/process/free-port.ts'
import { createKafkaBroker, type KafkaBroker } from './kafka-broker.ts'
import { type KafkaJava, prepareKafkaJava } from './kafka-java.ts'
import { type BrokerPlace, brokerSettingsText } from './kafka-settings.ts'

export interface KafkaCluster {
  brokers: readonly KafkaBroker[]
  /** `host:port` of each. */
  addresses: readonly string[]
  /** Ends all; may be called twice. */
  stop(): Promise<void>
  /** The same, by SIGKILL. */
  kill(): Promise<void>
}

export interface ClusterOptions extends JarOptions {
  /** Each broker gets a folder in it. */
  folder: string
  brokers: 1 | 3
  /**
   * Returns settings by Kafka's names for the broker with this number. Numbers begin at 1. Clients and controllers find
   * the broker at these ports.
   */
  settings?: (id: number, port: number, controllerPort: number) => Readonly<Record<string, string>>
}

/** A broker that archives its classes ends later. */
const archiveTimeoutMs = 120_000

/** Resolves when all brokers take requests. The first start on a machine fetches Kafka by Maven. */
export async function startKafkaCluster(options: ClusterOptions): Promise<KafkaCluster> {
  return await startBrokers(await prepareKafka(options), options)
}

/** Downloads the files of a start into the cache. */
export function prepareKafka(options: JarOptions): Promise<KafkaJava> {
  return prepareKafkaJava(options, async (archiving, folder) => {
    const { brokers } = await startBrokers(archiving, { folder, brokers: 1 }, archiveTimeoutMs)
    const ends = await Promise.all(brokers.map(broker => broker.stop()))
    return !ends.includes('signal SIGKILL')
  })
}

async function startBrokers(
  java: KafkaJava,
  { folder, brokers: count, settings }: Pick<ClusterOptions, 'folder' | 'brokers' | 'settings'>,
  stopTimeoutMs = 10_000,
): Promise<KafkaCluster> {
  const clusterId = clusterIdIn(folder)
  const places = await Promise.all(Array.from({ length: count }, (_, i) => placeOf(i + 1, folder)))
  const brokers = await Promise.all(
    places.map(place => {
      const text = brokerSettingsText(place, places, settings?.(place.id, place.port, place.controllerPort))
      const broker = { java, folder: join(folder, `${place.id}`), clusterId, settings: text, stopTimeoutMs }
      return createKafkaBroker({ ...broker, address: `127.0.0.1:${place.port}` })
    }),
  )
  const addresses = brokers.map(broker => broker.address)
  const each = async (work: (broker: KafkaBroker) => Promise<void>) => void (await Promise.all(brokers.map(work)))
  const kill = () => each(broker => broker.kill())
  try {
    await each(broker => broker.start())
  } catch (error) {
    await kill()
    throw error
  }
  return { brokers, addresses, stop: () => each(async broker => void (await broker.stop())), kill }
}

/** Made at the first start: brokers do not start with the data of another one. */
function clusterIdIn(folder: string): string {
  const path = join(folder, 'cluster-id')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(path)) writeFileSync(path, randomBytes(16).toString('base64url'))
  return readFileSync(path, 'utf8')
}

async function placeOf(id: number, folder: string): Promise<BrokerPlace> {
  const [port, controllerPort] = await Promise.all([freePort(), freePort()])
  return { id, port, controllerPort, dataFolder: join(folder, `${id}`, 'data') }
}
