/** A real Kafka for a test, with data of its own, gone again at its end. */

import { type KafkaCluster, startKafkaCluster } from '../../cli/demo/cluster/kafka-cluster.ts'
import { connectKafka, type Kafka, type KafkaOptions } from '../../ingest/kafka/client/connect.ts'
import type { TopicPartition } from '../../ingest/kafka/client/partition.ts'
import { testCacheDirectory } from './cache-directory.ts'
import { silentLog, type TestHooks, temporaryFolder } from './databases.ts'
import { until } from './processes.ts'

export interface TestKafka extends KafkaCluster {
  /** A client, closed at the end of the test. */
  connect(options?: Partial<KafkaOptions>): Promise<Kafka>
  /** A topic as the journal has it, with these settings besides. Returns its name. */
  makeTopic(name: string, settings?: Readonly<Record<string, string>>): Promise<string>
}

export interface TestKafkaOptions {
  brokers?: 1 | 3
  folder?: string
  settings?: (id: number, port: number, controllerPort: number) => Readonly<Record<string, string>>
}

const patience = { requestTimeoutMs: 30_000, appendDeadlineMs: 10 * 60_000 }

const topicSettings = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': `${4.5 * 1024 * 1024}` }

export async function startKafka(t: TestHooks, { brokers = 1, ...options }: TestKafkaOptions = {}): Promise<TestKafka> {
  const { folder = temporaryFolder(t), settings } = options
  const cluster = await startKafkaCluster({
    folder,
    brokers,
    cacheDirectory: testCacheDirectory(),
    environment: process.env,
    log: silentLog,
    ...(settings === undefined ? {} : { settings }),
  })
  t.teardown(() => cluster.kill())

  async function connect(options: Partial<KafkaOptions> = {}): Promise<Kafka> {
    const kafka = await connectKafka({ brokers: cluster.addresses, clientId: 'test', ...patience, ...options })
    t.teardown(() => kafka.close())
    return kafka
  }

  return {
    ...cluster,
    connect,
    async makeTopic(name, own = {}) {
      const kafka = await connect()
      const more = { ...topicSettings, ...(brokers === 1 ? {} : { 'min.insync.replicas': '2' }), ...own }
      await kafka.admin.create({ name, partitions: 1, replication: brokers, settings: more })
      // A new topic may have no leader for a moment, and reads are refused until it has one.
      const partition = await kafka.partition(name)
      await answered(() => partition.offsets())
      await kafka.close()
      return name
    },
  }
}

export const appendText = (partition: TopicPartition, text: string) => partition.append(Buffer.from(text))

/** On a slow machine an outcome may be unknown at first, so the text may be stored more than once. */
export async function storeText(partition: TopicPartition, text: string): Promise<void> {
  await until(`${text} is stored`, async () => (await appendText(partition, text)).outcome === 'stored')
}

/** All that the topic has. */
export async function textsOf(partition: TopicPartition): Promise<string[]> {
  const { start, end } = await answered(() => partition.offsets())
  const texts: string[] = []
  for (let offset = start; offset < end; ) {
    const from = offset
    const { records, nextOffset } = await answered(() => partition.fetch(from, 1024 * 1024, 1000))
    texts.push(...records.map(({ value }) => value.toString()))
    offset = nextOffset
  }
  return texts
}

export async function answered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  let answer: { value: Answer } | undefined
  await until('the broker answers', async () => {
    try {
      answer = { value: await ask() }
    } catch (error) {
      if ((error as Error).name !== 'KafkaAway') throw error
    }
    return answer !== undefined
  })
  return (answer as unknown as { value: Answer }).value
}
