/** Opens the write paths on Kafka topics. The roles `all` and `forward` forward them. */

import type { ChangeFeed } from '../auth/nodes/change-feed.ts'
import { type ForwarderStatus, unappliedRecords } from '../ingest/forwarder/forwarder-status.ts'
import { type Ingest, type PointsIngest, withStatus } from '../ingest/ingest.ts'
import type { Timed } from '../ingest/journal/record.ts'
import { createStampClassRows } from '../ingest/journal/stamp-classes.ts'
import { type LeasedStamps, openLeasedStamps } from '../ingest/journal/stamp-lease.ts'
import { type WallClock, watchClock } from '../ingest/journal/wall-clock.ts'
import { groupBytesFor } from '../ingest/kafka/client/settings.ts'
import { openTopicWritePath, type TopicWritePathOptions } from '../ingest/kafka/produce/write-path.ts'
import { readPublished } from '../ingest/kafka/state/forward-status.ts'
import { watchLostReplicas } from '../ingest/kafka/state/lost-replicas.ts'
import { createReplicaStateReader } from '../ingest/kafka/state/reader.ts'
import { markLost, readUnforwarded } from '../ingest/kafka/state/rows.ts'
import type { TopicState, TopicWatch } from '../ingest/kafka/state/watch.ts'
import { pointWriter } from '../ingest/points-table.ts'
import { readingWriter } from '../ingest/readings-table.ts'
import type { TableDescription } from '../ingest/table.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import { bug } from '../store/limits/bug.ts'
import { inTransaction } from '../store/postgres/transaction.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'
import { checkTopics } from './check-positions.ts'
import type { ServiceIngest, ServiceIngestOptions } from './open-ingest.ts'
import { watchTopics } from './open-kafka.ts'
import { openTopics, type ServiceTopics, startForwarders } from './open-topics.ts'

export interface TopicIngestOptions extends ServiceIngestOptions {
  directory: Pick<DataDirectory, 'path' | 'journal' | 'pointsJournal'>
  store: Pick<Store, 'postgres' | 'connectPostgres'>
  feed: Pick<ChangeFeed, 'currentForMs' | 'term'>
  /** True if this process runs the work that one node does for all. */
  leads: () => boolean
}

export async function openTopicIngest(options: TopicIngestOptions): Promise<ServiceIngest> {
  const { config, directory, store, feed, nowMs, log, onFatal } = options
  const opened: { close(): Promise<void> }[] = []
  async function close(): Promise<void> {
    for (const { close } of opened.toReversed()) await close()
  }
  try {
    const topics = await openTopics(options)
    opened.push(topics)
    const connect = store.connectPostgres
    const published = createReplicaStateReader({ connect, read: readPublished, log, onFatal })
    opened.push(published)
    const clockWatch = watchClock(nowMs, log)
    opened.push({ close: async () => clockWatch.close() })
    const { clock } = clockWatch
    const rows = createStampClassRows(store.postgres)
    for (const path of [directory.journal, directory.pointsJournal]) await rows.raise(stampsOfAppliedJournal(path))
    const stamps = await openLeasedStamps({ rows, nowUs: clock.nowUs, log })
    opened.push(stamps)
    const lease = { leaseLeftMs: feed.currentForMs, leaseTerm: feed.term }
    const kafka = { published, replicas: topics.replicas, pool: store.postgres }
    const common = { ...kafka, clock, stamps, ...lease, nowMs, log, onFatal, opened }
    const { ingest, points, states } = await openPaths(topics, common)
    if (topics.replicas.length > 1) opened.push(await watchLost(options, topics, { ingest, points, states }))
    return {
      ingest,
      pointsIngest: points,
      forward({ questdb }, metrics) {
        const checked = Object.values(topics.topics).map(topic => ({
          topic,
          table: tableOf(topics.tables, topic),
          start: () => states().find(state => state.topic === topic)?.sight?.start ?? 0,
        }))
        for (const replica of [{ number: 1, questdb }, ...topics.customReplicas]) {
          replica.questdb.guard(checkTopics(store.postgres, replica.number, checked))
        }
        if (config.role !== 'all') return
        opened.push(...startForwarders(options, topics, { questdb, seriesPairs: async () => metrics.seriesPairs() }))
      },
      customReplicas: topics.customReplicas,
      topicStates: states,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function watchLost(
  { store, leads, nowMs, log }: TopicIngestOptions,
  { kafka, topics }: ServiceTopics,
  { ingest, points, states }: Paths,
) {
  async function watched(topic: string, { replicas }: Ingest | PointsIngest) {
    const retentionMs = () => states().find(state => state.topic === topic)?.sight?.retentionMs
    return { topic, partition: await kafka.partition(topic), replicas, retentionMs }
  }
  const found = [await watched(topics.readings, ingest), await watched(topics.points, points)]
  const watch = watchLostReplicas({
    topics: found,
    leads,
    markLost: (replica, reason) =>
      inTransaction(store.postgres, { stepMs: 4000 }, client => markLost(client, replica, reason)),
    nowMs,
    log,
  })
  return {
    async close() {
      await watch.close()
      await Promise.all(found.map(({ partition }) => partition.close()))
    },
  }
}

interface PathOptions
  extends Pick<
    TopicWritePathOptions<never, never>,
    'published' | 'replicas' | 'leaseLeftMs' | 'leaseTerm' | 'log' | 'onFatal'
  > {
  pool: Store['postgres']
  clock: WallClock
  stamps: LeasedStamps
  nowMs: () => number
  /** Gets the parts to close. */
  opened: { close(): Promise<void> }[]
}

interface Paths {
  ingest: Ingest
  points: PointsIngest
  states: () => TopicState[]
}

async function openPaths(
  { topics, state, kafka, connection, tables, requirements, messageBytes }: ServiceTopics,
  { pool, stamps, nowMs, opened, ...common }: PathOptions,
): Promise<Paths> {
  const { clock, log } = common
  const { appliedOffset } = state
  const unforwarded = () => readUnforwarded(pool, common.replicas)
  const watches = await watchTopics({
    kafka,
    topics,
    requirements,
    messageBytes,
    appliedOffset,
    unforwarded,
    nowMs,
    log,
  })
  opened.push(watches)

  async function openPath<Series, Values extends Timed>(
    topic: string,
    watch: TopicWatch,
    own: Pick<TopicWritePathOptions<Series, Values>, 'writer' | 'stamper' | 'isSeldom'>,
  ) {
    const table = tableOf(tables, topic)
    const path = await openTopicWritePath({
      ...common,
      ...own,
      kafka,
      connection,
      state,
      topic,
      table,
      groupBytesMax: groupBytesFor(messageBytes.get(topic) ?? 0),
      refusal: watch.refusal,
    })
    opened.push(path)
    const status = () => withOldest(path.status(), watch.state().sight)
    return withStatus({ ...path, status }, clock)
  }

  const ingest = await openPath(topics.readings, watches.readings, { writer: readingWriter, stamper: stamps.readings })
  const points = await openPath(topics.points, watches.points, {
    writer: pointWriter,
    stamper: stamps.points,
    isSeldom: true,
  })
  return { ingest, points, states: watches.states }
}

/** Kafka may replace journals on disk only after QuestDB has applied all of their records. */
export function stampsOfAppliedJournal(directory: string): readonly number[] {
  const { count, highestUs } = unappliedRecords(directory)
  if (count === 0) return highestUs
  throw new StartError(
    `The journal in ${directory} has ${count} records that QuestDB may lack: start without KAFKA_BROKERS, wait until ` +
      'barograph status shows no lag, and stop it before you start with Kafka.',
  )
}

/** Without a forwarding process, the last status has an outdated age. */
function withOldest<Status extends { forwarder: ForwarderStatus }>(status: Status, sight: TopicState['sight']): Status {
  const { applied, pendingSinceUs = Number.POSITIVE_INFINITY } = status.forwarder
  if (sight?.oldestMs === undefined || applied > Math.max(sight.start, sight.applied)) return status
  return {
    ...status,
    forwarder: { ...status.forwarder, pendingSinceUs: Math.min(pendingSinceUs, 1000 * sight.oldestMs) },
  }
}

function tableOf(tables: ServiceTopics['tables'], topic: string): TableDescription {
  const table = tables.get(topic)
  if (table === undefined) throw bug(`there is no table of topic ${topic}`)
  return table
}
