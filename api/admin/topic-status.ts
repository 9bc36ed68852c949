/** A topic of Kafka that is a journal, as `GET /status` shows it. */

import type { TopicState } from '../../ingest/kafka/topic-watch.ts'
import type { TopicStatus } from './status-answer.ts'

export function topicStatus({ topic, sight, share, problems }: TopicState): TopicStatus {
  const { start, end, applied, oldestMs, replicas, inSync, retentionMs = Number.POSITIVE_INFINITY } = sight ?? {}
  const isSeen = start !== undefined && end !== undefined && applied !== undefined
  return {
    topic,
    offsets: isSeen ? { start, end, committed: applied } : null,
    oldest: oldestMs === undefined ? null : new Date(oldestMs).toISOString(),
    replicas: replicas ?? null,
    in_sync: inSync ?? null,
    retention_seconds: Number.isFinite(retentionMs) ? retentionMs / 1000 : null,
    retention_used: share ?? null,
    problems: problems.map(({ text }) => text),
  }
}
