/** Opens the topics that are the journals, and starts what forwards them to QuestDB. */

import { hostname } from 'node:os'
import { join } from 'node:path'
import { type ReplicaForwarder, startReplicaForwarder } from '../ingest/kafka/replica-forwarder.ts'
import { acquireReplica } from '../ingest/kafka/replica-lock.ts'
import { createReplicaState, type ReplicaState, type ReplicaTenure } from '../ingest/kafka/replica-state.ts'
import { keptMs } from '../ingest/kafka/retention-share.ts'
import { createTopicSettler } from '../ingest/kafka/settle-topics.ts'
import { points } from '../ingest/points-table.ts'
import { readings } from '../ingest/readings-table.ts'
import type { TableDescription } from '../ingest/table.ts'
import type { Config } from '../settings/config.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import type { Store } from '../store/store.ts'
import { systemClock } from './clock.ts'
import { openServiceKafka, type ServiceKafka } from './open-kafka.ts'

export interface TopicsOptions {
  config: Config
  directory: Pick<DataDirectory, 'path'>
  store: Pick<Store, 'postgres' | 'connectPostgres'>
  log: Log
  onFatal: (error: Error) => void
}

export interface ServiceTopics extends ServiceKafka {
  /** Of a process that does not forward. */
  state: ReplicaState
  /** By topic. */
  tables: ReadonlyMap<string, TableDescription>
}

const hourMs = 3_600_000

/** Throws a StartError as `openServiceKafka` does. */
export async function openTopics({ config, store }: Pick<TopicsOptions, 'config' | 'store'>): Promise<ServiceTopics> {
  const opened = await openServiceKafka(config, store)
  const { topics } = opened
  const tables = new Map([
    [topics.readings, readings],
    [topics.points, points],
  ])
  const state = createReplicaState({ pool: store.postgres, tenure: undefined, tables })
  return { ...opened, state, tables }
}

export interface ForwarderOptions {
  questdb: Store['questdb']
  /** As `startForwarding` takes them, as they are in PostgreSQL now. */
  seriesPairs: () => Promise<Uint32Array>
}

export function startForwarder(
  { config, directory, store, log, onFatal }: TopicsOptions,
  { connection, topics, tables, requirements, kafka }: ServiceTopics,
  { questdb, seriesPairs }: ForwarderOptions,
): ReplicaForwarder {
  const spools = join(directory.path, 'spool')
  const askedMs = config.JOURNAL_KEEP_HOURS * hourMs
  const keepMs = keptMs(askedMs, requirements.retentionMs)
  if (keepMs < askedMs) {
    const limits = { askedHours: askedMs / hourMs, keptHours: keepMs / hourMs }
    log.info(limits, 'JOURNAL_KEEP_HOURS is limited to a sixth of KAFKA_RETENTION_HOURS')
  }
  const holder = `${hostname()} ${process.pid}`
  const createState = (tenure: ReplicaTenure | undefined) =>
    createReplicaState({ pool: store.postgres, tenure, tables })
  const settler = createTopicSettler({
    database: store.postgres,
    questdb: questdb.address.http,
    partition: kafka.partition,
    tables,
    acceptedMs: config.QUESTDB_ACCEPT_LOSS,
    nowMs: systemClock,
  })
  const forwarder = startReplicaForwarder({
    kafka: connection,
    topics: [...tables].map(([topic, table]) => ({
      topic,
      table,
      directory: join(spools, table.name),
      damagedDirectory: join(directory.path, 'damaged-groups'),
    })),
    acquire: signal => acquireReplica({ replica: 's1', holder, connect: store.connectPostgres, log }, signal),
    createState,
    async openQuestdb(topic) {
      await questdb.ready
      const furtherSeries = topic === topics.readings ? await seriesPairs() : new Uint32Array()
      return { questdb: questdb.address.http, isSynced: questdb.commitMode() === 'sync', furtherSeries }
    },
    settle: settler.settle,
    bytesMax: config.JOURNAL_MAX,
    reserveBytes: config.JOURNAL_RESERVE,
    keepMs,
    log,
    onFatal,
  })
  return {
    status: forwarder.status,
    async close() {
      await forwarder.close()
      settler.close()
    },
  }
}
