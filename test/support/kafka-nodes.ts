/** Nodes of one service on a real broker, QuestDB and PostgreSQL, each a process of its own, and one that forwards. */

import { setTimeout as sleep } from 'node:timers/promises'
import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { offsetOf } from '../../ingest/journal/record.ts'
import { stateKey, topicsOf } from '../../ingest/kafka/client/names.ts'
import { prepareTopic } from '../../ingest/kafka/client/prepare.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { settingsFor, startFaultDatabases } from '../faults/databases.ts'
import { type TestHooks, temporaryFolder } from './databases.ts'
import { startKafka, type TestKafka } from './kafka.ts'
import { leaseSeconds, makeSecrets } from './nodes.ts'
import { until } from './processes.ts'
import { type Service, startService } from './service.ts'

export interface KafkaNodesOptions {
  environment?: Record<string, string>
  replicas?: 1 | 2
}

const hourMs = 3_600_000

export async function openKafkaNodes(t: TestHooks, { environment = {}, replicas = 1 }: KafkaNodesOptions = {}) {
  const [kafka, databases] = await Promise.all([startKafka(t), startFaultDatabases(t, temporaryFolder(t), replicas)])
  const topics = topicsOf('barograph-')
  const client = await kafka.connect()
  const requirements = { replication: 1, retentionMs: 24 * hourMs }
  for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: false })
  const shared = {
    KAFKA_BROKERS: kafka.addresses.join(),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '24',
    ...settingsFor(databases, databases.questdb.http.port),
    PUBLIC_URL: 'http://localhost:1',
    SECRETS_DIR: makeSecrets(t),
    NODE_LEASE_SECONDS: String(leaseSeconds),
    EVENTS_CLIENTS_PER_ADDRESS: '100',
    AIR_QUALITY_HTTP: 'allow',
    ...environment,
  }
  const postgres = makeClient({ connectionString: databases.postgresUrl })
  await postgres.connect()
  t.teardown(() => postgres.end())
  const sql = `SELECT topic, committed_offset::float8 AS committed FROM replica_topics`

  return {
    kafka,
    databases,
    topics,
    environment: shared,
    postgres,
    start: (role: 'api' | 'forward' = 'api', own: Record<string, string> = {}) =>
      startService(t, {
        environment: { ...shared, ...own },
        command: [process.execPath, 'service/main.ts', '--role', role],
      }),
    /** The one of these nodes that leads, when one does. */
    async leader(nodes: readonly Service[]): Promise<Service> {
      for (;;) {
        const found = nodes.find(
          ({ output }) =>
            output().lastIndexOf('"this node leads"') > output().lastIndexOf('"this node no longer leads"'),
        )
        if (found !== undefined) return found
        await sleep(50)
      }
    },
    /** Resolves when QuestDB has all that the topics have. */
    async untilForwarded() {
      for (const topic of Object.values(topics)) {
        const { end } = await endsOf(kafka, topic)
        await until(`${topic} is forwarded`, async () => {
          const { rows } = await postgres.query<{ topic: string; committed: number | null }>(sql)
          return Array.from({ length: replicas }, (_, at) => stateKey(topic, at + 1)).every(
            key => (rows.find(row => row.topic === key)?.committed ?? 0) >= end,
          )
        })
      }
    },
    /** The offsets of the groups that have records of this series. */
    async offsetsOf(topic: string, series: number) {
      const partition = await client.partition(topic)
      const { start, end } = await partition.offsets()
      const found: number[] = []
      for (let offset = start; offset < end; ) {
        const { records, nextOffset } = await partition.fetch(offset, 1024 * 1024, 1000)
        for (const record of records) if (hasSeries(record.value, series)) found.push(record.offset)
        offset = nextOffset
      }
      await partition.close()
      return found
    },
  }
}

async function endsOf(kafka: TestKafka, topic: string): Promise<{ end: number }> {
  const client = await kafka.connect()
  const partition = await client.partition(topic)
  const { end } = await partition.offsets()
  await partition.close()
  return { end }
}

function hasSeries(group: Buffer, series: number): boolean {
  for (let at = groupHeaderLength; at < group.length; at += group.readUInt16LE(at + offsetOf.length)) {
    if (group.readUInt32LE(at + offsetOf.series) === series) return true
  }
  return false
}
