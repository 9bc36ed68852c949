/**
 * Opens the write paths on topics of Kafka. They are forwarded by this process, with the role `all`, or by one of their own, with
 * the role `forward`.
 */

import type { ChangeFeed } from '../auth/nodes/change-feed.ts'
import { watchClock } from '../ingest/clock-watch.ts'
import type { LetterStore } from '../ingest/dead-letters.ts'
import { type Ingest, type PointsIngest, withStatus } from '../ingest/ingest.ts'
import { type LeasedStamps, openLeasedStamps } from '../ingest/journal/leased-stamps.ts'
import type { Timed } from '../ingest/journal/record.ts'
import { createStampClassRows } from '../ingest/journal/stamp-classes.ts'
import { unappliedRecords } from '../ingest/journal/unapplied-records.ts'
import type { WallClock } from '../ingest/journal/wall-clock.ts'
import { readPublished } from '../ingest/kafka/forward-status.ts'
import { refusalShare } from '../ingest/kafka/retention-share.ts'
import { createShardStateReader } from '../ingest/kafka/shard-state-reader.ts'
import { createShardedWritePath } from '../ingest/kafka/sharded-write-path.ts'
import type { TopicState, TopicWatch } from '../ingest/kafka/topic-watch.ts'
import { openTopicWritePath, type TopicWritePathOptions } from '../ingest/kafka/topic-write-path.ts'
import { pointWriter } from '../ingest/points-table.ts'
import { readings, readingWriter } from '../ingest/readings-table.ts'
import type { TableDescription } from '../ingest/table.ts'
import { bug } from '../limits/bug.ts'
import { shardAt } from '../placement/placement.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'
import { checkTopics } from './check-positions.ts'
import type { ServiceIngest, ServiceIngestOptions } from './open-ingest.ts'
import { watchTopics } from './open-kafka.ts'
import type { Shard } from './open-shard.ts'
import { forwardShards, openShards } from './open-shards.ts'
import { type PlacementWatch, watchPlacement } from './watch-placement.ts'

export interface TopicIngestOptions extends ServiceIngestOptions {
  directory: Pick<DataDirectory, 'path' | 'journal' | 'pointsJournal'>
  store: Pick<Store, 'postgres' | 'connectPostgres'>
  feed: Pick<ChangeFeed, 'currentForMs' | 'term'>
}

/** Of one shard. */
interface ShardPaths {
  number: number
  ingest: Ingest
  points: PointsIngest
  topicStates: () => TopicState[]
}

export async function openTopicIngest(options: TopicIngestOptions): Promise<ServiceIngest> {
  const { config, directory, store, feed, nowMs, log, onFatal } = options
  const opened: { close(): Promise<void> }[] = []
  async function close(): Promise<void> {
    for (const { close } of opened.toReversed()) await close()
  }
  try {
    const { shards, furtherQuestdbs, close: closeShards } = await openShards(options)
    opened.push({ close: closeShards })
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
    const placement = await watchPlacement({ postgres: store.postgres, shardCount: shards.length, log })
    opened.push(placement)
    const lease = { leaseLeftMs: feed.currentForMs, leaseTerm: feed.term }
    const common = { published, clock, stamps, ...lease, nowMs, log, onFatal, opened }
    const paths: ShardPaths[] = []
    const isAlone = shards.length === 1
    const aheadMs = config.TIMESTAMP_AHEAD_SECONDS * 1000
    const misplaced = () => (isAlone ? (placement.refusal() ?? placement.othersFrom(nowMs() + aheadMs)) : undefined)
    for (const shard of shards) paths.push(await openShardPaths(shard, { ...common, misplaced }))
    const [first] = paths
    const [{ state }] = shards as [Shard]
    if (first === undefined) throw bug('there is no shard')
    const letters = state.letters.ofTopics(
      readings,
      shards.map(({ topics }) => topics.readings),
    )
    const ingest = isAlone ? first.ingest : await shardedIngest(paths, placement, clock, letters)
    return {
      ingest,
      // All of them are on shard 1.
      pointsIngest: first.points,
      forward({ questdb }, metrics) {
        for (const [at, { topics, tables }] of shards.entries()) {
          const sights = () => paths[at]?.topicStates() ?? []
          const checked = Object.values(topics).map(topic => ({
            topic,
            table: tableOf(tables, topic),
            start: () => sights().find(state => state.topic === topic)?.sight?.start ?? 0,
          }))
          const own = at === 0 ? questdb : furtherQuestdbs[at - 1]?.questdb
          own?.guard(checkTopics(store.postgres, checked))
        }
        first.ingest.onLost(questdb.hourlyView.markSuspect)
        if (config.role !== 'all') return
        const seriesPairs = async () => metrics.seriesPairs()
        opened.push(...forwardShards(options, { shards, furtherQuestdbs }, questdb, seriesPairs))
      },
      topicStates: () => paths.flatMap(path => path.topicStates()),
      placementIssue: placement.issue,
      placement: () => placement.until(nowMs() + aheadMs),
      further: isAlone ? undefined : { questdbs: furtherQuestdbs, ingests: paths.map(path => path.ingest) },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface PathOptions
  extends Pick<TopicWritePathOptions<never, never>, 'published' | 'leaseLeftMs' | 'leaseTerm' | 'log' | 'onFatal'> {
  clock: WallClock
  stamps: LeasedStamps
  nowMs: () => number
  /** Why no reading may go to the one shard that this process knows. */
  misplaced: () => string | undefined
  /** Gets what closes them. */
  opened: { close(): Promise<void> }[]
}

async function openShardPaths(
  shard: Shard,
  { stamps, nowMs, misplaced, opened, ...common }: PathOptions,
): Promise<ShardPaths> {
  const { number, topics, state, kafka, connection, tables } = shard
  const { clock, log } = common
  const watches = await watchTopics({ ...shard, appliedOffset: state.appliedOffset, nowMs, log })
  opened.push(watches)

  async function openPath<Series, Values extends Timed>(
    topic: string,
    watch: TopicWatch,
    own: Pick<TopicWritePathOptions<Series, Values>, 'writer' | 'stamper'>,
  ) {
    const table = tableOf(tables, topic)
    const refusal = () => refusalOf(topic, watch) ?? (topic === topics.readings ? misplaced() : undefined)
    const path = await openTopicWritePath({ ...common, ...own, kafka, connection, state, topic, table, refusal })
    opened.push(path)
    return withStatus(path, clock)
  }

  const ingest = await openPath(topics.readings, watches.readings, { writer: readingWriter, stamper: stamps.readings })
  const points = await openPath(topics.points, watches.points, { writer: pointWriter, stamper: stamps.points })
  return { number, ingest, points, topicStates: watches.states }
}

async function shardedIngest(
  paths: readonly ShardPaths[],
  { current, refusal }: Pick<PlacementWatch, 'current' | 'refusal'>,
  clock: WallClock,
  letters: LetterStore,
): Promise<Ingest> {
  const path = await createShardedWritePath({
    table: readings,
    paths: paths.map(({ ingest }) => ingest),
    shardAt: (device, timeUs) => shardAt(current(), device, timeUs),
    refusal,
    letters,
  })
  return withStatus(path, clock)
}

/** Whoever comes from the form with journals on disk has all of their records in QuestDB first. */
export function stampsOfAppliedJournal(directory: string): readonly number[] {
  const { count, highestUs } = unappliedRecords(directory)
  if (count === 0) return highestUs
  throw new StartError(
    `The journal in ${directory} has ${count} records that QuestDB may lack: start without KAFKA_BROKERS, wait until ` +
      'barograph status shows no lag, and stop it before you start with Kafka.',
  )
}

function tableOf(tables: Shard['tables'], topic: string): TableDescription {
  const table = tables.get(topic)
  if (table === undefined) throw bug(`there is no table of topic ${topic}`)
  return table
}

function refusalOf(topic: string, watch: TopicWatch): string | undefined {
  const share = watch.retentionShare()
  if (share === undefined || share < refusalShare) return undefined
  const percent = Math.floor(100 * share)
  return `the topic ${topic} has kept records for ${percent} % of its retention that are not in QuestDB yet`
}
