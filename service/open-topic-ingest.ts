/**
 * Opens the write paths on topics of Kafka. They are forwarded by this process, with the role `all`, or by one of their own, with
 * the role `forward`.
 */

import type { ChangeFeed } from '../auth/nodes/change-feed.ts'
import { watchClock } from '../ingest/clock-watch.ts'
import { withStatus } from '../ingest/ingest.ts'
import { openLeasedStamps } from '../ingest/journal/leased-stamps.ts'
import type { Timed } from '../ingest/journal/record.ts'
import { createStampClassRows } from '../ingest/journal/stamp-classes.ts'
import { unappliedRecords } from '../ingest/journal/unapplied-records.ts'
import { readPublished } from '../ingest/kafka/forward-status.ts'
import { refusalShare } from '../ingest/kafka/retention-share.ts'
import { createShardStateReader } from '../ingest/kafka/shard-state-reader.ts'
import type { TopicWatch } from '../ingest/kafka/topic-watch.ts'
import { openTopicWritePath, type TopicWritePathOptions } from '../ingest/kafka/topic-write-path.ts'
import { pointWriter } from '../ingest/points-table.ts'
import { readingWriter } from '../ingest/readings-table.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'
import type { ServiceIngest, ServiceIngestOptions } from './open-ingest.ts'
import { watchTopics } from './open-kafka.ts'
import { openShard, shardForwarder } from './open-shard.ts'

export interface TopicIngestOptions extends ServiceIngestOptions {
  directory: Pick<DataDirectory, 'path' | 'journal' | 'pointsJournal'>
  store: Pick<Store, 'postgres' | 'connectPostgres'>
  feed: Pick<ChangeFeed, 'currentForMs'>
}

export async function openTopicIngest(options: TopicIngestOptions): Promise<ServiceIngest> {
  const { config, directory, store, feed, nowMs, log, onFatal } = options
  const opened: { close(): Promise<void> }[] = []
  async function close(): Promise<void> {
    for (const { close } of opened.toReversed()) await close()
  }
  try {
    const shard = await openShard(options)
    opened.push(shard)
    const { topics, state, kafka, connection, tables } = shard
    const watches = await watchTopics({
      ...shard,
      committedOffset: async topic => (await state.load(topic)).offset,
      nowMs,
      log,
    })
    opened.push(watches)
    const connect = store.connectPostgres
    const published = createShardStateReader({ connect, read: readPublished, log, onFatal })
    opened.push(published)
    const clockWatch = watchClock(nowMs, log)
    opened.push({ close: async () => clockWatch.close() })
    const { clock } = clockWatch
    const rows = createStampClassRows(store.postgres)
    for (const path of [directory.journal, directory.pointsJournal]) await rows.raise(stampsOfAppliedJournal(path))
    const stamps = await openLeasedStamps({ rows, nowUs: clock.nowUs, log })
    opened.push(stamps)
    const leaseLeftMs = feed.currentForMs
    const common = { kafka, connection, state, published, clock, leaseLeftMs, log, onFatal }

    async function openPath<Series, Values extends Timed>(
      topic: string,
      watch: TopicWatch,
      own: Pick<TopicWritePathOptions<Series, Values>, 'writer' | 'stamper'>,
    ) {
      const table = tables.get(topic)
      if (table === undefined) throw new StartError(`There is no table of topic ${topic}.`)
      const path = await openTopicWritePath({
        ...common,
        ...own,
        topic,
        table,
        refusal: () => refusalOf(topic, watch),
      })
      opened.push(path)
      return withStatus(path, clock)
    }

    const ingest = await openPath(topics.readings, watches.readings, {
      writer: readingWriter,
      stamper: stamps.readings,
    })
    const pointsIngest = await openPath(topics.points, watches.points, {
      writer: pointWriter,
      stamper: stamps.points,
    })
    return {
      ingest,
      pointsIngest,
      forward(questdb, metrics) {
        ingest.onLost(questdb.hourlyView.markSuspect)
        if (config.role === 'all')
          opened.push(shardForwarder(options, shard, questdb, async () => metrics.seriesPairs()))
      },
      topicStates: watches.states,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Whoever comes from the form with journals on disk has all of their records in QuestDB first. */
function stampsOfAppliedJournal(directory: string): readonly number[] {
  const { count, highestUs } = unappliedRecords(directory)
  if (count === 0) return highestUs
  throw new StartError(
    `The journal in ${directory} has ${count} records that QuestDB may lack: start without KAFKA_BROKERS, wait until ` +
      'barograph status shows no lag, and stop it before you start with Kafka.',
  )
}

function refusalOf(topic: string, watch: TopicWatch): string | undefined {
  const share = watch.retentionShare()
  if (share === undefined || share < refusalShare) return undefined
  const percent = Math.floor(100 * share)
  return `the topic ${topic} has kept records for ${percent} % of its retention that are not in QuestDB yet`
}
