/** A shard: its topics, its state in PostgreSQL, and what forwards it to QuestDB. */

import { hostname } from 'node:os'
import { join } from 'node:path'
import type { KafkaOptions } from '../ingest/kafka/connect.ts'
import { keptMs } from '../ingest/kafka/retention-share.ts'
import { createTopicSettler } from '../ingest/kafka/settle-topics.ts'
import { type ShardForwarder, startShardForwarder } from '../ingest/kafka/shard-forwarder.ts'
import { acquireShard } from '../ingest/kafka/shard-lock.ts'
import type { ShardShare } from '../ingest/kafka/shard-share.ts'
import { createShardState, type ShardState, type ShardTenure } from '../ingest/kafka/shard-state.ts'
import { points } from '../ingest/points-table.ts'
import { readings } from '../ingest/readings-table.ts'
import type { TableDescription } from '../ingest/table.ts'
import type { Config } from '../settings/config.ts'
import { kafkaSettings } from '../settings/kafka.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'
import { systemClock } from './clock.ts'
import { openServiceKafka, type ServiceKafka } from './open-kafka.ts'

export interface ShardOptions {
  config: Config
  directory: Pick<DataDirectory, 'path'>
  store: Pick<Store, 'postgres' | 'connectPostgres'>
  log: Log
  onFatal: (error: Error) => void
}

export interface Shard extends ServiceKafka {
  /** From 1 on. */
  number: number
  /** For threads, which have connections of their own. */
  connection: KafkaOptions
  /** Of a process that does not forward. */
  state: ShardState
  /** By topic. */
  tables: ReadonlyMap<string, TableDescription>
}

const hourMs = 3_600_000

/** Throws a StartError where Kafka cannot be reached or its topics promise less than they should. */
export async function openShard(
  { config, store }: Pick<ShardOptions, 'config' | 'store'>,
  number: number,
): Promise<Shard> {
  const settings = kafkaSettings(config)
  const opened = await openServiceKafka(config, number)
  if (settings === undefined || opened === undefined) throw new StartError('KAFKA_BROKERS is not set.')
  const { topics } = opened
  const tables = new Map([
    [topics.readings, readings],
    [topics.points, points],
  ])
  const state = createShardState({ pool: store.postgres, tenure: undefined, tables })
  return { ...opened, number, connection: settings.connection, state, tables }
}

export interface ForwarderOptions {
  questdb: Store['questdb']
  /** As `startForwarding` takes them, as they are in PostgreSQL now. */
  seriesPairs: () => Promise<Uint32Array>
  /** Where there are several shards. */
  share: ShardShare | undefined
}

export function shardForwarder(
  { config, directory, store, log, onFatal }: ShardOptions,
  {
    number,
    connection,
    topics,
    tables,
    requirements,
    kafka,
  }: Pick<Shard, 'number' | 'connection' | 'topics' | 'tables' | 'requirements' | 'kafka'>,
  { questdb, seriesPairs, share }: ForwarderOptions,
): ShardForwarder {
  // Where the first one always was.
  const spools = join(directory.path, number === 1 ? 'spool' : `spool-s${number}`)
  const askedMs = config.JOURNAL_KEEP_HOURS * hourMs
  const keepMs = keptMs(askedMs, requirements.retentionMs)
  if (keepMs < askedMs) {
    const limits = { shard: number, askedHours: askedMs / hourMs, keptHours: keepMs / hourMs }
    log.info(limits, 'JOURNAL_KEEP_HOURS is limited to a sixth of KAFKA_RETENTION_HOURS')
  }
  const holder = `${hostname()} ${process.pid}`
  const createState = (tenure: ShardTenure | undefined) => createShardState({ pool: store.postgres, tenure, tables })
  const settler = createTopicSettler({
    database: store.postgres,
    questdb: questdb.address.http,
    partition: kafka.partition,
    tables,
    acceptedMs: config.QUESTDB_ACCEPT_LOSS,
    nowMs: systemClock,
  })
  const forwarder = startShardForwarder({
    kafka: connection,
    topics: [...tables].map(([topic, table]) => ({
      topic,
      table,
      directory: join(spools, table.name),
      damagedDirectory: join(directory.path, 'damaged-groups'),
    })),
    acquire: signal =>
      acquireShard({ shard: `s${number}`, holder, share, connect: store.connectPostgres, log }, signal),
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
