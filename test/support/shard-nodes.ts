/** Nodes of one service with two shards: two QuestDBs, and the topics of both on one broker. */

import type pg from 'pg'
import { questdbSettings } from '../../demo/cluster/database-settings.ts'
import { prepareTopic } from '../../ingest/kafka/prepare-topics.ts'
import { shardRow, tryLock } from '../../ingest/kafka/shard-session.ts'
import { topicsOf } from '../../ingest/kafka/topic-names.ts'
import type { Epoch } from '../../placement/placement.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { settingsFor, startFaultDatabases } from '../faults/databases.ts'
import { openQuestdbSql, type QuestdbSql } from '../faults/questdb-sql.ts'
import { type TestHooks, temporaryFolder } from './databases.ts'
import { startKafka, type TestKafka } from './kafka.ts'
import { leaseSeconds, makeSecrets } from './nodes.ts'
import { startQuestdb } from './questdb.ts'
import { type Service, startService } from './service.ts'
import { splitShards } from './split-shards.ts'

export interface ShardNodes {
  kafka: TestKafka
  /** Of shard 1 and of shard 2. */
  questdbs: readonly [QuestdbSql, QuestdbSql]
  postgres: pg.Client
  /** As `start` gives them to a process. */
  environment: Record<string, string>
  /** Half of the devices are on shard 2 from this day on, microseconds; nothing is done of what has to be done before. */
  split(fromUs: number): Promise<Epoch>
  /** Has the lock of the shard until it is let go. */
  holdShard(name: string): Promise<() => Promise<unknown>>
  start(role: 'api' | 'forward', environment?: Record<string, string>): Promise<Service>
}

const hourMs = 3_600_000

export async function openShardNodes(t: TestHooks): Promise<ShardNodes> {
  const [kafka, databases, second] = await Promise.all([
    startKafka(t),
    startFaultDatabases(t, temporaryFolder(t)),
    startQuestdb(t, { isOwn: true }),
  ])
  const client = await kafka.connect()
  const requirements = { replication: 1, retentionMs: 24 * hourMs }
  for (const topic of [1, 2].flatMap(shard => Object.values(topicsOf('barograph-', shard)))) {
    await prepareTopic(client.admin, topic, { requirements, apply: false })
  }
  const { QUESTDB_HTTP, QUESTDB_PG } = questdbSettings(second.address)
  const environment = {
    ...settingsFor(databases, databases.questdb.http.port),
    QUESTDB_SHARDS: `2=${QUESTDB_HTTP},${QUESTDB_PG}`,
    KAFKA_BROKERS: kafka.addresses.join(),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '24',
    PUBLIC_URL: 'http://localhost:1',
    SECRETS_DIR: makeSecrets(t),
    NODE_LEASE_SECONDS: String(leaseSeconds),
  }
  const postgres = makeClient({ connectionString: databases.postgresUrl })
  await postgres.connect()
  t.teardown(() => postgres.end())
  return {
    kafka,
    questdbs: [databases.sql, openQuestdbSql(second.address)],
    postgres,
    environment,
    split: fromUs => splitShards(databases.postgresUrl, fromUs),
    async holdShard(name) {
      const { number } = await shardRow(postgres, name)
      if (!(await tryLock(postgres, number))) throw new Error(`shard ${name} is held`)
      return () => postgres.query('SELECT pg_advisory_unlock_all()')
    },
    start: (role, own = {}) =>
      startService(t, {
        environment: { ...environment, ...own },
        command: [process.execPath, 'service/main.ts', '--role', role],
      }),
  }
}
