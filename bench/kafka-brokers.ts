/** Brokers of Kafka for a bench, and a journal of readings on a topic of theirs beside one on local segments. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KafkaCluster, startKafkaCluster } from '../cli/demo/cluster/kafka-cluster.ts'
import { openDisk } from '../ingest/journal/disk.ts'
import { Journal } from '../ingest/journal/journal.ts'
import { type JournalMedium, openSegmentsMedium } from '../ingest/journal/medium.ts'
import { liveWindowUs } from '../ingest/journal/record.ts'
import { openStamper } from '../ingest/journal/stamp-file.ts'
import { createWallClock } from '../ingest/journal/wall-clock.ts'
import { connectKafka, type Kafka } from '../ingest/kafka/client/connect.ts'
import type { TopicPartition } from '../ingest/kafka/client/partition.ts'
import { prepareTopic } from '../ingest/kafka/client/prepare.ts'
import { createTopicMedium } from '../ingest/kafka/produce/write-path.ts'
import type { Reading } from '../ingest/reading.ts'
import { type DeviceRef, readingWriter } from '../ingest/readings-table.ts'
import { testCacheDirectory } from '../test/support/cache-directory.ts'
import { silentLog, temporaryFolder } from '../test/support/databases.ts'
import { type Hooks, sleep } from './measure.ts'

export type ReadingsJournal = Journal<DeviceRef, Reading>

export interface BenchKafka {
  kafka: Kafka
  brokers: KafkaCluster['brokers']
  addresses: readonly string[]
  /** The process of the first broker. */
  pid: number
  /** Makes a topic as the service needs it. */
  makeTopic(name: string): Promise<void>
}

const retentionHours = 24

/** The settings with which a service uses one broker. */
export function kafkaSettings({ addresses }: BenchKafka): Record<string, string> {
  return {
    KAFKA_BROKERS: addresses.join(),
    KAFKA_REPLICATION: `${addresses.length}`,
    KAFKA_RETENTION_HOURS: `${retentionHours}`,
  }
}

export async function startBenchKafka(hooks: Hooks, count: 1 | 3): Promise<BenchKafka> {
  const folder = temporaryFolder(hooks)
  const options = { cacheDirectory: testCacheDirectory(), environment: process.env, log: silentLog }
  const cluster = await startKafkaCluster({ folder, brokers: count, ...options })
  hooks.teardown(() => cluster.kill())
  const { brokers, addresses } = cluster
  const kafka = await connectKafka({ brokers: addresses, clientId: 'bench' })
  hooks.teardown(() => kafka.close())
  const requirements = { replication: count, retentionMs: retentionHours * 3_600_000 }
  return {
    kafka,
    brokers,
    addresses,
    pid: Number.parseInt(readFileSync(join(folder, '1', 'process'), 'utf8'), 10),
    async makeTopic(name) {
      await prepareTopic(kafka.admin, name, { requirements, apply: false })
    },
  }
}

/** A journal on a new topic, and the partition to read it back. */
export async function openTopicJournal(
  hooks: Hooks,
  { kafka, addresses, makeTopic }: BenchKafka,
  topic: string,
): Promise<{ journal: ReadingsJournal; partition: TopicPartition }> {
  await makeTopic(topic)
  const partition = await kafka.partition(topic)
  const medium = createTopicMedium({
    connection: { brokers: addresses, clientId: 'bench' },
    topic,
    end: 0,
    // A single process may use all classes.
    stamper: openStamper({ disk: openDisk(temporaryFolder(hooks)), lastStampUs: 0, nowUs, log: silentLog }),
    refusal: () => undefined,
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
    leaseTerm: () => 0,
  })
  const journal = openJournal(hooks, medium)
  // It refuses until its thread has reached a broker.
  while (!Array.isArray(await journal.reserveStampsUs(1))) await sleep(100)
  return { journal, partition }
}

/** The same journal, whose groups are synced to segments in a folder. */
export function openLocalJournal(hooks: Hooks): ReadingsJournal {
  const directory = temporaryFolder(hooks)
  const limits = { bytesMax: 1024 ** 4, reserveBytes: 0 }
  return openJournal(hooks, openSegmentsMedium({ directory, ...limits, nowUs, log: silentLog }))
}

const { nowUs } = createWallClock({ nowMs: Date.now })

function openJournal(hooks: Hooks, medium: JournalMedium): ReadingsJournal {
  const journal = new Journal({
    writer: readingWriter,
    medium,
    liveWindowUs,
    nowUs,
    log: silentLog,
    onFatal: error => {
      throw error
    },
  })
  hooks.teardown(() => journal.close())
  return journal
}
