/** The topics of Kafka, as the server's status tells of them. */

import type { Status, TopicStatus } from '../api/admin/status-answer.ts'
import { durationText } from './duration-text.ts'

export function topicText({ offsets, replicas, in_sync, retention_seconds, retention_used }: TopicStatus): string {
  if (offsets === null) return 'not looked at yet'
  const waiting = offsets.end - Math.max(offsets.start, offsets.committed)
  const lag = waiting <= 0 ? 'no record waits' : `${waiting} records wait for QuestDB`
  const used = Math.floor((retention_used ?? 0) * 100)
  const kept = retention_seconds === null ? 'kept for ever' : `${used} % of ${durationText(retention_seconds)} used`
  return `${lag}, ${kept}, ${in_sync} of ${replicas} replicas in sync`
}

export function topicProblemsOf(kafka: Status['kafka']): string[] {
  return (kafka?.topics ?? []).flatMap(({ topic, problems }) => problems.map(problem => `topic ${topic}: ${problem}`))
}

/** A line of name and text for each replica of QuestDB. */
export function replicaTexts(kafka: Status['kafka']): [string, string][] {
  return (kafka?.replicas ?? []).map(({ number, is_read, state, reason, behind_seconds, holder, since }) => {
    const facts = [
      reason === null ? state : `${state}: ${reason}`,
      is_read ? 'read here' : undefined,
      behind_seconds < 1 ? undefined : `${durationText(behind_seconds)} behind`,
      holder === null ? 'no process forwards to it' : `process ${holder} forwards to it since ${since}`,
    ]
    return [`replica ${number}`, facts.filter(fact => fact !== undefined).join(', ')]
  })
}
