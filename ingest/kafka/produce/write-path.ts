/**
 * The write path of one table whose journal is a topic of Kafka. Rows are acknowledged when the brokers have them. A forwarder
 * sends them to QuestDB, in this process or in another one: the two share only Kafka, PostgreSQL and QuestDB.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { StartError } from '../../../store/start-error.ts'
import { threadLimits } from '../../../store/thread-limits.ts'
import { createDeadLetters } from '../../dead-letters.ts'
import { statusBefore } from '../../forwarder/forwarder-status.ts'
import { Journal } from '../../journal/journal.ts'
import type { JournalShared } from '../../journal/journal-shared.ts'
import { type JournalMedium, type JournalThread, type JournalThreadHooks, threadHandle } from '../../journal/medium.ts'
import { liveWindowUs, type Timed } from '../../journal/record.ts'
import type { Stamper } from '../../journal/stamp.ts'
import { Sleeper, systemTiming, type Timing } from '../../timing.ts'
import {
  acceptInto,
  appendInPieces,
  type SharedJournal,
  type WritePath,
  type WritePathOptions,
} from '../../write-path.ts'
import type { Kafka, KafkaOptions } from '../client/connect.ts'
import { KafkaAway } from '../client/errors.ts'
import type { Offsets } from '../client/fetcher.ts'
import { stateKey } from '../client/names.ts'
import { openTopicFeed, type TopicFeed } from '../consume/feed.ts'
import type { PublishedStatus } from '../state/forward-status.ts'
import type { ReplicaStateReader } from '../state/reader.ts'
import type { ReplicaState } from '../state/state.ts'
import { AppendDeadline, type AppendThreadData } from './deadline.ts'

export interface TopicWritePathOptions<Series, Values extends Timed>
  extends Pick<WritePathOptions<Series, Values>, 'table' | 'writer' | 'clock' | 'log' | 'onFatal'>,
    Omit<TopicMediumOptions, 'end'> {
  kafka: Kafka
  state: ReplicaState
  published: Pick<ReplicaStateReader<PublishedStatus>, 'onState' | 'ageMs' | 'issue'>
  /** Their numbers. */
  replicas: readonly [number, ...number[]]
}

const confirmPollMs = 200

/** Rejects when no broker answers, and when the topic has no leader for longer than an election takes. */
export async function openTopicWritePath<Series, Values extends Timed>(
  options: TopicWritePathOptions<Series, Values>,
): Promise<WritePath<Series, Values>> {
  const { table, writer, clock, kafka, topic, state, published, replicas, log, onFatal } = options
  const { nowUs } = clock
  const partition = await kafka.partition(topic)
  const { start, end } = await offsetsAtStart(partition)
  const { offset: committed = start } = await state.load(topic)
  const medium = createTopicMedium({ ...options, end })
  const journal = new Journal({ writer, medium, liveWindowUs, nowUs, log, onFatal })
  // The first listener receives all records that the most advanced replica may lack: the others are not read before they have
  // caught up.
  const range = { from: committed, notifyFrom: committed, waitsForListener: true }
  const feed = openTopicFeed({ topic, table, partition, ...range, published, replicas, log, onFatal })
  const latest = new Map<number, PublishedStatus>()
  for (const replica of replicas) published.onState(stateKey(topic, replica), found => latest.set(replica, found))
  const append = (records: Uint8Array, term?: number) => appendInPieces(journal, records, term)
  const closing = new AbortController()
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    closing.abort()
    await journal.close()
    await feed.close()
  }

  /** The forwarder confirms it. Without one, the next forwarder does. */
  async function untilConfirmed(series: readonly number[]): Promise<void> {
    const wanted = new Set(series)
    for (;;) {
      closing.signal.throwIfAborted()
      const left = await state.unconfirmedTombstones(topic)
      if (!left.some(([number]) => wanted.has(number))) return
      await sleep(confirmPollMs, undefined, { signal: closing.signal })
    }
  }

  return {
    accept: (series, values, reservedUs) => acceptInto(journal, series, values, reservedUs),
    append,
    term: () => journal.term(),
    stampUs: () => journal.stampUs(),
    reserveStampsUs: count => journal.reserveStampsUs(count),
    // The journal itself sees only the appends of this process.
    onStored: feed.onStored,
    replicas: feed.replicas,
    onLost(listener) {
      for (const replica of feed.replicas) replica.onLost(listener)
    },
    async erase(seriesNumbers) {
      const before = await journal.endSeries(seriesNumbers)
      await state.addTombstones(topic, seriesNumbers, before)
      await untilConfirmed(seriesNumbers)
      return { before, damaged: await state.letters.erase(topic, new Set(seriesNumbers)) }
    },
    refuseSeries: numbers => journal.refuseSeries(numbers),
    shared: sharedJournal(partition.topicId, feed),
    // The files are on the machines of the brokers.
    files: undefined,
    status: () => statusOf(journal, feed, latest, published.issue()),
    endOfAll: async () => (await partition.offsets()).end,
    deadLetters: createDeadLetters(
      table,
      {
        list: (after, limit) => state.letters.list(topic, after, limit),
        remove: ids => state.letters.remove(topic, ids),
      },
      append,
    ),
    close() {
      closed ??= close()
      return closed
    },
  }
}

function sharedJournal(topicId: string, feed: TopicFeed): SharedJournal {
  return {
    journalId: topicId,
    nextPosition: feed.nextId,
    unreadSeconds: feed.lagSeconds,
    issue: () => feed.status().issue,
    untilNotified: feed.untilNotified,
  }
}

/**
 * Positions are offsets, and rows are counted from the first one that QuestDB lacked when this process started. Of several
 * replicas it describes the most advanced one, with the highest number of dead letters.
 */
function statusOf(
  journal: Pick<Journal<never, never>, 'status'>,
  feed: Pick<TopicFeed, 'status' | 'replicas'>,
  states: ReadonlyMap<number, PublishedStatus>,
  issue: string | undefined,
): ReturnType<WritePath<never, never>['status']> {
  const { position, damagedGroups, ...read } = feed.status()
  const first = feed.replicas.reduce((one, other) => ((other.applied() ?? -1) > (one.applied() ?? -1) ? other : one))
  const latest = states.get(first.number)
  const deadLetters = Math.max(0, ...[...states.values()].map(({ forwarder }) => forwarder.deadLetters))
  const rows = first.rows()
  const status = journal.status()
  const end = Math.max(status.end, read.end)
  // The number of rows in an unread group is unknown: at least one.
  const unread = Math.max(0, end - position)
  const reported = latest?.forwarder ?? statusBefore('no forwarder has started')
  const { applied = 0, committed = 0, spool } = latest ?? {}
  return {
    journal: { ...status, end, ordinal: rows.read + unread },
    forwarder: {
      ...reported,
      deadLetters,
      live: applied,
      backfill: applied,
      applied,
      start: committed,
      appliedOrdinal: rows.applied,
      damagedBytes: reported.damagedBytes + damagedGroups,
      issue: reported.issue ?? spool?.issue ?? issue,
    },
  }
}

interface TopicMediumOptions {
  /** The thread has connections of its own. */
  connection: KafkaOptions
  topic: string
  /** End of the topic. */
  end: number
  /** Maximum length of a group. */
  groupBytesMax?: number
  /** True where the first group may wait for the start of the thread. */
  isSeldom?: boolean
  /** Unique among all processes that append to the topic. */
  stamper: Stamper
  /** Reason why appends are refused. */
  refusal: () => string | undefined
  /** Milliseconds for which admitted records may still be appended; not positive while the node has no lease. */
  leaseLeftMs: () => number
  /** Increases when a lease begins after a gap: records admitted in an earlier term are not appended. */
  leaseTerm: () => number
}

export function createTopicMedium(options: TopicMediumOptions): JournalMedium {
  const { connection, topic, end, isSeldom = false, stamper, refusal, leaseLeftMs, leaseTerm } = options
  return {
    // The number of all nodes' records is unknown.
    end: { position: end, ordinal: 0 },
    tornBytes: 0,
    ...(options.groupBytesMax === undefined ? {} : { groupBytesMax: options.groupBytesMax }),
    stamper,
    refusal,
    term: leaseTerm,
    // The topic is limited only by time.
    bytesMax: Number.MAX_SAFE_INTEGER,
    bytesUpTo: () => 0,
    trimmed: () => undefined,
    startThread(shared, hooks) {
      const deadline = new AppendDeadline()
      const startThread = isSeldom ? startAppendThreadLate : startAppendThread
      const thread = startThread({ connection, topic, shared, deadline: deadline.shared }, hooks)
      return whileLeased(thread, { deadline, leaseLeftMs, leaseTerm, shared, hooks })
    },
  }
}

/**
 * Starts the thread with the first group. Loading Kafka's client takes 0.7 s of processor time, which delays the start of a service
 * on busy cores.
 */
function startAppendThreadLate(workerData: AppendThreadData, hooks: JournalThreadHooks): JournalThread {
  let thread: JournalThread | undefined
  return {
    commit(term) {
      thread ??= startAppendThread(workerData, hooks)
      thread.commit(term)
    },
    stop: async () => await thread?.stop(),
  }
}

function startAppendThread(workerData: AppendThreadData, hooks: JournalThreadHooks): JournalThread {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    name: 'journal',
    workerData,
    resourceLimits: threadLimits.topicJournal,
  })
  return threadHandle(worker, workerData.shared, hooks)
}

interface LeaseCheck extends Pick<TopicMediumOptions, 'leaseLeftMs' | 'leaseTerm'> {
  deadline: Pick<AppendDeadline, 'begin'>
  shared: JournalShared
  hooks: JournalThreadHooks
}

/**
 * Passes on a group only while the node has had a lease continuously since the group's first record was admitted. The group may
 * have waited behind a group in doubt for so long that a revocation was answered without this node. Otherwise nothing of the
 * group is stored.
 */
export function whileLeased(thread: JournalThread, check: LeaseCheck): JournalThread {
  const { deadline, leaseLeftMs, leaseTerm, shared, hooks } = check

  function refuse(reason: string): void {
    const end = Number(Atomics.load(shared.durableEnd, 0))
    hooks.onMessage({ kind: 'committed', outcome: 'full', end, reason })
  }

  return {
    ...thread,
    commit(term) {
      if (!deadline.begin(leaseLeftMs)) setImmediate(refuse, 'this node has no lease')
      else if (term !== leaseTerm()) setImmediate(refuse, 'this node had no lease for a while')
      else thread.commit(term)
    },
  }
}

/** A failed broker is detected after `broker.session.timeout.ms`, by default 9 s. Then another leader is elected. */
const electionMsMax = 15_000
const pauseMs = 250

/** Throws `TopicMissing`, and a `StartError` when no leader answers for 15 s. */
export async function offsetsAtStart(
  partition: { offsets(): Promise<Offsets> },
  timing: Timing = systemTiming,
): Promise<Offsets> {
  const sleeper = new Sleeper(timing)
  const endMs = timing.monotonicMs() + electionMsMax
  for (;;) {
    try {
      return await partition.offsets()
    } catch (error) {
      if (!(error instanceof KafkaAway)) throw error
      if (timing.monotonicMs() >= endMs)
        throw new StartError(`Kafka does not answer (${error.message}): check its brokers, then start again.`)
    }
    await sleeper.sleep(pauseMs)
  }
}
