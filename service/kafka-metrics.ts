/** What the topics of Kafka that are the journals tell of themselves at each scrape; without Kafka there is none of it. */

import { Gauge, type Registry } from 'prom-client'
import type { TopicSight, TopicState } from '../ingest/kafka/topic-watch.ts'

export function addKafka(registry: Registry, states: () => TopicState[]): void {
  const add = (name: string, help: string, value: (state: TopicState) => number | undefined) => {
    new Gauge({
      name: `barograph_kafka_topic_${name}`,
      help: `${help} NaN until it was looked at.`,
      labelNames: ['topic'],
      registers: [registry],
      collect() {
        for (const state of states()) this.set({ topic: state.topic }, value(state) ?? Number.NaN)
      },
    })
  }
  const seen = (name: string, help: string, value: (sight: TopicSight) => number) => {
    add(name, help, ({ sight }) => (sight === undefined ? undefined : value(sight)))
  }
  seen('start_offset', 'Offset of the first record that Kafka has.', ({ start }) => start)
  seen('end_offset', 'Offset of the next record to come.', ({ end }) => end)
  seen('committed_offset', 'Offset before which everything is in QuestDB.', ({ applied }) => applied)
  seen('lag_records', 'Records that wait for QuestDB, each a group of rows.', lagOf)
  seen('replicas', 'Brokers that the topic is to be on.', ({ replicas }) => replicas)
  seen('in_sync_replicas', 'Brokers that have all of its records.', ({ inSync }) => inSync)
  seen('under_replicated', '1 while a replica is not in sync.', ({ inSync, replicas }) => Number(inSync < replicas))
  seen('retention_seconds', 'How long Kafka keeps records; +Inf for ever.', ({ retentionMs }) => retentionMs / 1000)
  add('retention_used_ratio', 'Part of that which the oldest waiting record has used.', ({ share }) => share)
  add('unreachable', '1 while it cannot be looked at.', ({ problems }) => {
    return Number(problems.some(({ kind }) => kind === 'unreachable' || kind === 'other'))
  })
}

function lagOf({ start, end, applied }: TopicSight): number {
  return Math.max(0, end - Math.max(start, applied))
}
