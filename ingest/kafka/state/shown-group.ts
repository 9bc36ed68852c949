/**
 * Commits the applied offsets of the topics to a consumer group as well, so that Kafka's own tools show the lag
 * (`kafka-consumer-groups.sh --describe`). The service never reads them: the offsets in PostgreSQL are authoritative.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../store/log.ts'
import type { Kafka } from '../client/connect.ts'
import { messageOf } from '../client/errors.ts'

export interface ShownGroupOptions {
  kafka: Pick<Kafka, 'commitOffsets'>
  group: string
  topics: readonly string[]
  /** Applied offset of a topic. Undefined while QuestDB has nothing of it. */
  appliedOffset: (topic: string) => Promise<number | undefined>
  /** True in the forwarding process. */
  isForwarding: () => boolean
  log: Pick<Log, 'info' | 'warn'>
  everyMs?: number
}

const everyMsUsual = 5000

export function showGroup(options: ShownGroupOptions): { close(): Promise<void> } {
  const { kafka, group, topics, appliedOffset, isForwarding, log, everyMs = everyMsUsual } = options
  const closing = new AbortController()
  const { signal } = closing
  let isFailing = false

  async function commit(): Promise<void> {
    const offsets = new Map<string, number>()
    for (const topic of topics) {
      const offset = await appliedOffset(topic)
      if (offset !== undefined) offsets.set(topic, offset)
    }
    if (offsets.size > 0) await kafka.commitOffsets(group, offsets)
  }

  async function tryCommit(): Promise<void> {
    try {
      await commit()
      if (isFailing) log.info({ group }, 'committing offsets to the consumer group again')
      isFailing = false
    } catch (error) {
      if (signal.aborted) return
      const reason = messageOf(error)
      if (!isFailing)
        log.warn({ group, reason }, "cannot commit offsets to the consumer group; Kafka's tools do not show the lag")
      isFailing = true
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      if (isForwarding()) await tryCommit()
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
