/**
 * Monitors a topic: periodically checks the backlog for QuestDB with its age, and the topic's guarantees. Problems are logged
 * when they begin and when they end.
 *
 * Kafka deletes a record after its retention, even if QuestDB lacks it. A high share of the retention first alarms the operator,
 * then stops further writes.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../store/log.ts'
import { messageOf, OtherKafka, TopicMissing } from '../client/errors.ts'
import type { TopicPartition } from '../client/partition.ts'
import {
  describeTopic,
  differenceText,
  retentionMsOf,
  type TopicDescription,
  type TopicRequirements,
  type TopicSource,
  topicDifferences,
} from '../client/settings.ts'

interface TopicSources {
  topic: string
  admin: TopicSource
  partition: Pick<TopicPartition, 'offsets' | 'fetch'>
  /** Everything before it is in QuestDB. Undefined while unknown. */
  appliedOffset: () => Promise<number | undefined>
  /** Replicas to which no process forwards, by name. */
  unforwarded: () => Promise<readonly number[]>
  requirements: TopicRequirements
}

export interface TopicSight {
  /** Offsets of the first record in Kafka, and of the next future one. */
  start: number
  end: number
  /** Everything before this offset is in QuestDB. */
  applied: number
  /** Receipt time of the oldest record missing in QuestDB, epoch milliseconds. Undefined without one. */
  oldestMs: number | undefined
  unforwarded: readonly number[]
  replicas: number
  inSync: number
  /** Infinity when Kafka deletes nothing. */
  retentionMs: number
  /** Weaker guarantees, as clauses. */
  weaknesses: string[]
}

/** `before`: the result of the previous check. Throws like the requests. */
export async function lookAtTopic(sources: TopicSources, before: TopicSight | undefined): Promise<TopicSight> {
  const { topic, admin, partition, appliedOffset, unforwarded, requirements } = sources
  // This offset is read first, so that it is never ahead of the others.
  const applied = await appliedOffset()
  const described = await describeTopic(admin, topic)
  if (described === undefined) throw new TopicMissing(`there is no topic ${topic}`)
  const { start, end } = await partition.offsets()
  const waiting = { start, end, applied: applied ?? start }
  return {
    ...waiting,
    unforwarded: await unforwarded(),
    ...replicasOf(described),
    oldestMs: await oldestOf(partition, waiting, before),
    retentionMs: retentionMsOf(described.settings) ?? requirements.retentionMs,
    weaknesses: topicDifferences(described, requirements)
      .filter(({ isRequired }) => isRequired)
      .map(differenceText),
  }
}

type Waiting = Pick<TopicSight, 'start' | 'end' | 'applied'>

/** Kafka may have deleted some waiting records. */
function oldestOffsetOf({ start, applied }: Waiting): number {
  return Math.max(start, applied)
}

/** Kafka's receipt time of the oldest waiting record. */
async function oldestOf(
  partition: TopicSources['partition'],
  waiting: Waiting,
  before: TopicSight | undefined,
): Promise<number | undefined> {
  const oldest = oldestOffsetOf(waiting)
  if (oldest >= waiting.end) return undefined
  // A record of some megabytes is not read repeatedly while the forwarder is stopped.
  if (before?.oldestMs !== undefined && oldestOffsetOf(before) === oldest) return before.oldestMs
  const { records } = await partition.fetch(oldest, 1, 0)
  return records[0]?.appendedMs
}

/** A topic has one partition. If it has more, which is a weakness, the worst one counts. */
function replicasOf({ partitions }: TopicDescription): Pick<TopicSight, 'replicas' | 'inSync'> {
  const missing = partitions.map(({ replicas, inSync }) => replicas.length - inSync.length)
  const worst = partitions[missing.indexOf(Math.max(...missing))]
  return { replicas: worst?.replicas.length ?? 0, inSync: worst?.inSync.length ?? 0 }
}

export interface TopicProblem {
  kind: keyof typeof kinds
  /** A clause, without the topic. */
  text: string
}

const kinds = {
  other: { level: 'error', message: 'refusing writes: Kafka is not the journal of this database' },
  unreachable: { level: 'warn', message: 'cannot check the topic' },
  weak: { level: 'error', message: 'the topic guarantees less than was acknowledged' },
  underReplicated: { level: 'warn', message: 'replicas of the topic are not in sync' },
  late: { level: 'warn', message: 'QuestDB lacks records for longer than a minute' },
  unforwarded: { level: 'error', message: 'no process forwards the topic' },
  retention: { level: 'warn', message: 'records wait for QuestDB for a large part of the retention' },
  refused: { level: 'error', message: 'refusing writes until QuestDB has caught up' },
  deleted: { level: 'error', message: 'Kafka has deleted records that QuestDB lacks' },
} as const satisfies Record<string, { level: keyof Log; message: string }>

interface ProblemInputs {
  sight: TopicSight | undefined
  fault: string | undefined
  /** The fault is another cluster or topic. */
  isOther?: boolean
  /** Share of the retention used by the oldest waiting record. */
  share: number | undefined
  /** Age of the oldest record that QuestDB lacks. */
  lateMs?: number
  /** The time for which no process has forwarded to a replica. */
  unforwardedMs?: number
}

/** Dashboards show outdated values beyond this age. */
const lateMsMax = 60_000
/** Another process takes over within some 10 s. */
const unforwardedMsMax = 30_000

export function topicProblems({
  sight,
  fault,
  isOther = false,
  share = 0,
  lateMs = 0,
  unforwardedMs = 0,
}: ProblemInputs): TopicProblem[] {
  const problems: TopicProblem[] = []
  if (fault !== undefined) {
    problems.push(
      isOther ? { kind: 'other', text: fault } : { kind: 'unreachable', text: `cannot be checked: ${fault}` },
    )
  }
  if (sight === undefined) return problems
  const { start, applied, replicas, inSync, weaknesses } = sight
  if (weaknesses.length > 0) problems.push({ kind: 'weak', text: weaknesses.join('; ') })
  if (inSync < replicas) {
    problems.push({ kind: 'underReplicated', text: `${inSync} of ${replicas} replicas are in sync` })
  }
  if (lateMs > lateMsMax) {
    problems.push({ kind: 'late', text: `QuestDB lacks a record that Kafka took ${Math.round(lateMs / 1000)} s ago` })
  }
  if (unforwardedMs > unforwardedMsMax) {
    const text = `no process forwards it to the replica ${sight.unforwarded.join(', ')}: start one with --role forward`
    problems.push({ kind: 'unforwarded', text })
  }
  if (share >= alarmShare) {
    const text = `the oldest record that QuestDB lacks has used ${percentText(share)} of the retention`
    problems.push({ kind: 'retention', text })
  }
  if (share >= refusalShare) {
    const text = `writes are refused until QuestDB has caught up, since the retention ends soon`
    problems.push({ kind: 'refused', text })
  }
  if (start > applied) {
    const text = `Kafka has deleted records ${applied} to ${start - 1}, which QuestDB lacks`
    problems.push({ kind: 'deleted', text })
  }
  return problems
}

function percentText(share: number): string {
  return `${Math.floor(share * 100)} %`
}

/** Logs new problems, and ended ones. */
export function noteProblems(
  log: Log,
  topic: string,
  before: readonly TopicProblem[],
  found: readonly TopicProblem[],
): void {
  for (const { kind, text } of added(before, found)) {
    const { level, message } = kinds[kind]
    log[level]({ topic, reason: text }, message)
  }
  for (const { kind } of added(found, before)) log.info({ topic }, `no longer: ${kinds[kind].message}`)
}

/** The problems in `to` whose kind is not in `from`. */
function added(from: readonly TopicProblem[], to: readonly TopicProblem[]): TopicProblem[] {
  return to.filter(({ kind }) => !from.some(problem => problem.kind === kind))
}

interface TopicWatchOptions extends TopicSources {
  /** Epoch milliseconds. */
  nowMs: () => number
  log: Log
  /** Interval of the checks, milliseconds. */
  everyMs?: number
}

export interface TopicState {
  topic: string
  /** The last result from Kafka. Undefined before the first one. */
  sight: TopicSight | undefined
  /** Share of the retention used by the oldest record missing in QuestDB. Undefined before the first result. */
  share: number | undefined
  /** The time for which no process has forwarded to one of the replicas; 0 while each has a process. */
  unforwardedMs: number
  problems: TopicProblem[]
}

export interface TopicWatch {
  state(): TopicState
  retentionShare(): number | undefined
  /** Reason why appends are refused. */
  refusal(): string | undefined
  close(): Promise<void>
}

const defaultEveryMs = 10_000

export function watchTopic(options: TopicWatchOptions): TopicWatch {
  const { topic, nowMs, log, everyMs = defaultEveryMs } = options
  const closing = new AbortController()
  const { signal } = closing
  let sight: TopicSight | undefined
  let problems: TopicProblem[] = []
  let other: string | undefined
  let unforwardedSinceMs: number | undefined

  // Uses the present time, since the share also grows while Kafka does not answer.
  function share(): number | undefined {
    return sight === undefined ? undefined : retentionShare(sight.oldestMs, sight.retentionMs, nowMs())
  }

  function unforwardedMs(): number {
    return unforwardedSinceMs === undefined ? 0 : nowMs() - unforwardedSinceMs
  }

  async function look(): Promise<void> {
    let fault: string | undefined
    let isOther = false
    try {
      sight = await lookAtTopic(options, sight)
      unforwardedSinceMs = sight.unforwarded.length === 0 ? undefined : (unforwardedSinceMs ?? nowMs())
    } catch (error) {
      fault = messageOf(error)
      isOther = error instanceof OtherKafka
    }
    // A request interrupted by the close is not a fault.
    if (signal.aborted) return
    other = isOther ? fault : undefined
    const found = topicProblems({
      sight,
      fault,
      isOther,
      share: share(),
      lateMs: sight?.oldestMs === undefined ? 0 : nowMs() - sight.oldestMs,
      unforwardedMs: unforwardedMs(),
    })
    noteProblems(log, topic, problems, found)
    problems = found
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await look()
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const running = run()
  return {
    state: () => ({ topic, sight, share: share(), unforwardedMs: unforwardedMs(), problems }),
    retentionShare: share,
    refusal() {
      const used = share() ?? 0
      if (other !== undefined || used < refusalShare) return other
      const percent = Math.floor(100 * used)
      return `the topic ${topic} has kept records for ${percent} % of its retention that are not in QuestDB yet`
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

/** The alarm begins at this share. */
const alarmShare = 0.5
/** Writes are refused from this share on, which leaves the rest of the time for forwarding the backlog. */
export const refusalShare = 0.8

/** Share of the retention of applied records: a segment of a spool ends after this time. */
export const segmentShare = 1 / 8
/** Together with a segment's time, kept records are still in the topic when writes are refused. */
const keepShareMax = 1 / 6

/**
 * How long applied records are kept for a QuestDB without sync: as configured, or a share of the retention where that is shorter.
 */
export function keptMs(askedMs: number, retentionMs: number): number {
  return Math.min(askedMs, retentionMs * keepShareMax)
}

/**
 * The share is at least 0. Above 1, Kafka may delete the record at any time. The share is 0 while no record waits
 * (`oldestMs` undefined), and for an unlimited retention.
 */
export function retentionShare(oldestMs: number | undefined, retentionMs: number, nowMs: number): number {
  return oldestMs === undefined ? 0 : Math.max(0, nowMs - oldestMs) / retentionMs
}
