/** Nodes of one service in processes of their own, with topics of one broker as their journals. */

import { prepareTopic } from '../../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../../ingest/kafka/topic-names.ts'
import { type Databases, settingsFor, startFaultDatabases } from '../faults/databases.ts'
import { type TestHooks, temporaryFolder } from './databases.ts'
import { startKafka, type TestKafka } from './kafka.ts'
import { leaseSeconds, makeSecrets } from './nodes.ts'
import { type Service, startService } from './service.ts'

export interface TopicNodes {
  kafka: TestKafka
  databases: Databases
  start(role: 'api' | 'forward', environment?: Record<string, string>): Promise<Service>
}

const hourMs = 3_600_000

export async function openTopicNodes(t: TestHooks): Promise<TopicNodes> {
  const [kafka, databases] = await Promise.all([startKafka(t), startFaultDatabases(t, temporaryFolder(t))])
  const client = await kafka.connect()
  const requirements = { replication: 1, retentionMs: 24 * hourMs }
  for (const topic of Object.values(topicsOf('barograph-', 1))) {
    await prepareTopic(client.admin, topic, { requirements, apply: false })
  }
  const shared = {
    ...settingsFor(databases, databases.questdb.http.port),
    KAFKA_BROKERS: kafka.addresses.join(),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '24',
    PUBLIC_URL: 'http://localhost:1',
    SECRETS_DIR: makeSecrets(t),
    NODE_LEASE_SECONDS: String(leaseSeconds),
    EVENTS_CLIENTS_PER_ADDRESS: '100',
    AIR_QUALITY_HTTP: 'allow',
  }
  return {
    kafka,
    databases,
    start: (role, environment) =>
      startService(t, {
        environment: { ...shared, ...environment },
        command: [process.execPath, 'service/main.ts', '--role', role],
      }),
  }
}
