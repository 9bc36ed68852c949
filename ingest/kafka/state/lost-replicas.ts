/**
 * Finds replicas that lack records which Kafka is about to delete, while another replica has them. They are marked as lost: an
 * erase would wait for them forever, and after the deletion only a new copy can repair them.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../store/log.ts'
import type { ShownReplica } from '../../write-path.ts'
import { messageOf } from '../client/errors.ts'
import type { TopicPartition } from '../client/partition.ts'

interface WatchedTopic {
  readonly topic: string
  readonly partition: Pick<TopicPartition, 'offsets' | 'fetch'>
  readonly replicas: readonly Pick<ShownReplica, 'number' | 'shown' | 'lost'>[]
  /** The retention of the topic in milliseconds. Undefined while unknown. */
  readonly retentionMs: () => number | undefined
}

export interface LostReplicasOptions {
  readonly topics: readonly WatchedTopic[]
  /** True on the node that does the work of one node. */
  readonly leads: () => boolean
  readonly markLost: (replica: number, reason: string) => Promise<boolean>
  readonly nowMs: () => number
  readonly log: Pick<Log, 'error' | 'warn'>
  readonly everyMs?: number
}

/** Share of the retention in which an operator can repair the replica. */
const lostShare = 0.5

export function watchLostReplicas(options: LostReplicasOptions): { close(): Promise<void> } {
  const { topics, leads, markLost, log, everyMs = 30_000 } = options
  const closing = new AbortController()
  const { signal } = closing
  let fault: string | undefined

  async function look(): Promise<void> {
    for (const topic of topics) {
      for (const [replica, reason] of await lostIn(topic, options.nowMs())) {
        if (signal.aborted || !leads() || !(await markLost(replica, reason))) continue
        log.error({ replica, reason }, 'replica lost; replace it by a copy of another one')
      }
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (leads()) await look()
        fault = undefined
      } catch (error) {
        const reason = messageOf(error)
        if (!signal.aborted && reason !== fault)
          log.warn({ reason }, 'cannot compare replicas with their topics, retrying')
        fault = reason
      }
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

/** Returns the numbers of lost replicas, with the reasons. */
export async function lostIn(
  { topic, partition, replicas, retentionMs }: WatchedTopic,
  nowMs: number,
): Promise<[replica: number, reason: string][]> {
  const inUse = replicas.filter(({ lost }) => lost() === undefined)
  const most = Math.max(...inUse.map(({ shown }) => shown() ?? 0))
  const found: [number, string][] = []
  const { start } = await partition.offsets()
  for (const { number, shown } of inUse) {
    const offset = shown() ?? 0
    if (offset >= most) continue
    if (offset < start && most >= start) {
      found.push([number, `Kafka has deleted records of ${topic} that it lacks`])
      continue
    }
    const { records } = await partition.fetch(Math.max(start, offset), 1, 0)
    const oldestMs = records[0]?.appendedMs ?? nowMs
    if (nowMs - oldestMs < lostShare * (retentionMs() ?? Number.POSITIVE_INFINITY)) continue
    found.push([
      number,
      `it lacks records of ${topic} since ${new Date(oldestMs).toISOString()}, which Kafka is about to delete`,
    ])
  }
  return found
}
