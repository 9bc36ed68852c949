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

/** None where it is not known. */
export function forwarderText(kafka: Status['kafka']): string[] {
  const forwarder = kafka?.forwarder ?? undefined
  if (forwarder === undefined) return []
  const { holder, since } = forwarder
  return [holder === null ? 'none: the last one has given up' : `process ${holder}, since ${since}`]
}
