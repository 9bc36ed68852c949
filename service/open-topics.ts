/** Opens the journal topics and the QuestDBs of further replicas, and starts the forwarders of each replica. */

import { hostname } from 'node:os'
import { join } from 'node:path'
import { type ReplicaForwarder, startReplicaForwarder } from '../ingest/kafka/consume/replica-forwarder.ts'
import { acquireReplica } from '../ingest/kafka/state/lock.ts'
import { createTopicSettler } from '../ingest/kafka/state/settle.ts'
import { showGroup } from '../ingest/kafka/state/shown-group.ts'
import { createReplicaState, type ReplicaState, type ReplicaTenure } from '../ingest/kafka/state/state.ts'
import { keptMs } from '../ingest/kafka/state/watch.ts'
import { points } from '../ingest/points-table.ts'
import { readings } from '../ingest/readings-table.ts'
import type { TableDescription } from '../ingest/table.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { openGivenQuestdb } from '../store/questdb/questdb.ts'
import type { QuestdbReplica } from '../store/questdb/questdb-replicas.ts'
import type { Store } from '../store/store.ts'
import { systemClock } from './clock.ts'
import { openServiceKafka, type ServiceKafka } from './open-kafka.ts'
import type { Config } from './settings/config.ts'

export interface TopicsOptions {
  config: Config
  directory: Pick<DataDirectory, 'path'>
  store: Pick<Store, 'postgres' | 'connectPostgres'>
  log: Log
  onFatal: (error: Error) => void
}

type OpenReplica = QuestdbReplica<Store['questdb']>

export interface ServiceTopics extends ServiceKafka {
  customReplicas: readonly OpenReplica[]
  replicas: readonly [number, ...number[]]
  /** State in a process that does not forward. */
  state: ReplicaState
  tables: ReadonlyMap<string, TableDescription>
}

const hourMs = 3_600_000

/** Throws a StartError as `openServiceKafka` does. */
export async function openTopics({
  config,
  store,
  log,
}: Pick<TopicsOptions, 'config' | 'store' | 'log'>): Promise<ServiceTopics> {
  const opened = await openServiceKafka(config, store)
  const { topics } = opened
  const tables = new Map([
    [topics.readings, readings],
    [topics.points, points],
  ])
  const customReplicas = (config.QUESTDB_REPLICAS ?? []).map(({ number, http, pg }) => {
    const questdb = openGivenQuestdb({ questdbHttp: http, questdbPg: pg, leavesHourlyView: config.role !== 'all', log })
    return { number, questdb }
  })
  const replicas = [1, ...customReplicas.map(({ number }) => number)] as [number, ...number[]]
  const state = createReplicaState({ pool: store.postgres, tenure: undefined, replicas, tables })
  async function close(): Promise<void> {
    await Promise.all([opened.close(), ...customReplicas.map(({ questdb }) => questdb.close())])
  }
  return { ...opened, customReplicas, replicas, state, tables, close }
}

export interface ForwardersOptions {
  questdb: Store['questdb']
  /** Present pairs in PostgreSQL, as `startForwarding` takes them. */
  seriesPairs: () => Promise<Uint32Array>
}

export interface NumberedForwarder extends ReplicaForwarder {
  number: number
}

/** Forwards each replica that no other process holds, and stands by for the others. */
export function startForwarders(
  options: TopicsOptions,
  topics: ServiceTopics,
  { questdb, seriesPairs }: ForwardersOptions,
): NumberedForwarder[] {
  const replicas: OpenReplica[] = [{ number: 1, questdb }, ...topics.customReplicas]
  return replicas.map(replica => ({
    number: replica.number,
    ...startForwarder(options, topics, { replica, seriesPairs }),
  }))
}

function startForwarder(
  { config, directory, store, log, onFatal }: TopicsOptions,
  { connection, topics, tables, requirements, kafka }: ServiceTopics,
  { replica: { number, questdb }, seriesPairs }: Pick<ForwardersOptions, 'seriesPairs'> & { replica: OpenReplica },
): ReplicaForwarder {
  const spools = join(directory.path, number === 1 ? 'spool' : `spool-${number}`)
  const askedMs = config.JOURNAL_KEEP_HOURS * hourMs
  const keepMs = keptMs(askedMs, requirements.retentionMs)
  if (keepMs < askedMs && number === 1) {
    const limits = { askedHours: askedMs / hourMs, keptHours: keepMs / hourMs }
    log.info(limits, 'JOURNAL_KEEP_HOURS is limited to a sixth of KAFKA_RETENTION_HOURS')
  }
  const holder = `${hostname()} ${process.pid}`
  const createState = (tenure: ReplicaTenure | undefined) =>
    createReplicaState({ pool: store.postgres, tenure, tables })
  const settler = createTopicSettler({
    database: store.postgres,
    questdb: questdb.address.http,
    replica: number,
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
    acquire: signal => acquireReplica({ replica: number, holder, connect: store.connectPostgres, log }, signal),
    createState,
    async openQuestdb(topic) {
      await questdb.ready
      const customSeries = topic === topics.readings ? await seriesPairs() : new Uint32Array()
      return { questdb: questdb.address.http, isSynced: questdb.commitMode() === 'sync', customSeries }
    },
    settle: settler.settle,
    bytesMax: config.JOURNAL_MAX,
    reserveBytes: config.JOURNAL_RESERVE,
    keepMs,
    log,
    onFatal,
  })
  const shown = showGroup({
    kafka,
    group: `${config.KAFKA_TOPIC_PREFIX}s${number}`,
    topics: [...tables.keys()],
    appliedOffset: createReplicaState({ pool: store.postgres, tenure: undefined, replicas: [number], tables })
      .appliedOffset,
    isForwarding: () => forwarder.status() !== undefined,
    log,
  })
  return {
    status: forwarder.status,
    async close() {
      await shown.close()
      await forwarder.close()
      settler.close()
    },
  }
}
