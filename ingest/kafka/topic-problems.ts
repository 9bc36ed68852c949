/** What is wrong with a topic, for an operator: told in the log when it begins and when it ends. */

import type { Log } from '../../store/log.ts'
import { alarmShare, refusalShare } from './retention-share.ts'
import type { TopicSight } from './topic-sight.ts'

export interface TopicProblem {
  kind: keyof typeof kinds
  /** A clause, without the topic. */
  text: string
}

const kinds = {
  other: { level: 'error', message: 'refusing writes: Kafka is not the journal of this database' },
  unreachable: { level: 'warn', message: 'cannot look at the topic' },
  weak: { level: 'error', message: 'the topic keeps less than was acknowledged' },
  underReplicated: { level: 'warn', message: 'replicas of the topic are not in sync' },
  late: { level: 'warn', message: 'QuestDB lacks records for longer than a minute' },
  unforwarded: { level: 'error', message: 'no process forwards the topic' },
  retention: { level: 'warn', message: 'records wait for QuestDB for a large part of the retention' },
  refused: { level: 'error', message: 'refusing writes until QuestDB has caught up' },
  deleted: { level: 'error', message: 'Kafka has deleted records that QuestDB has not taken' },
} as const satisfies Record<string, { level: keyof Log; message: string }>

export interface ProblemInputs {
  sight: TopicSight | undefined
  fault: string | undefined
  /** The fault is that it is another cluster or another topic. */
  isOther?: boolean
  /** Of the retention, by the oldest record that waits. */
  share: number | undefined
  /** How old the oldest record is that QuestDB lacks. */
  lateMs?: number
  /** For how long a replica has had no process that forwards to it. */
  unforwardedMs?: number
}

/** Beyond this, what dashboards show is old. */
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
      isOther ? { kind: 'other', text: fault } : { kind: 'unreachable', text: `cannot be looked at: ${fault}` },
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
    const text = `the oldest record that QuestDB has not taken has used ${percentText(share)} of the retention`
    problems.push({ kind: 'retention', text })
  }
  if (share >= refusalShare) {
    const text = `nothing is taken until QuestDB has caught up, for the retention ends soon`
    problems.push({ kind: 'refused', text })
  }
  if (start > applied) {
    const text = `Kafka has deleted records ${applied} to ${start - 1}, which QuestDB has not taken`
    problems.push({ kind: 'deleted', text })
  }
  return problems
}

function percentText(share: number): string {
  return `${Math.floor(share * 100)} %`
}

/** Logs those that are new, and those that ended. */
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

/** Those of `to` whose kind is not in `from`. */
function added(from: readonly TopicProblem[], to: readonly TopicProblem[]): TopicProblem[] {
  return to.filter(({ kind }) => !from.some(problem => problem.kind === kind))
}
