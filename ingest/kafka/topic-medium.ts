/** A topic of Kafka, as what the groups of a journal are written to: one record a group, in its one partition. */

import type { Log } from '../../store/log.ts'
import { openDisk } from '../journal/disk.ts'
import { readGroup } from '../journal/group.ts'
import type { JournalMedium } from '../journal/medium.ts'
import { openStamper } from '../journal/stamp-file.ts'
import { startAppendThread } from './append-worker.ts'
import type { KafkaOptions } from './connect.ts'
import type { TopicPartition } from './topic-partition.ts'

export interface TopicMediumOptions {
  partition: Pick<TopicPartition, 'fetch'>
  /** For the thread, which has connections of its own. */
  connection: KafkaOptions
  topic: string
  /** Where the topic ends. */
  end: number
  /** Why nothing more may be appended. */
  refusal: () => string | undefined
  /** Where the stamps of this node are noted. */
  directory: string
  /** Of the journal that was there before, on disk. */
  lastStampUs: number
  nowUs: () => number
  log: Log
}

/** How long the newest group of the topic may take to come. */
const newestWaitMs = 5000

/** Rejects when no broker answers. */
export async function openTopicMedium(options: TopicMediumOptions): Promise<JournalMedium> {
  const { partition, connection, topic, end, refusal, directory, nowUs, log } = options
  const newestUs = end > 0 ? await newestStampUs(partition, end - 1) : 0
  const lastStampUs = Math.max(newestUs, options.lastStampUs)
  return {
    // Nobody counts the records of all nodes.
    end: { position: end, ordinal: 0 },
    tornBytes: 0,
    stamper: openStamper({ disk: openDisk(directory), lastStampUs, nowUs, log }),
    refusal,
    // The topic has a bound in time alone.
    bytesMax: Number.MAX_SAFE_INTEGER,
    bytesUpTo: () => 0,
    trimmed: () => undefined,
    startThread: (shared, hooks) => startAppendThread({ connection, topic, shared }, hooks),
  }
}

async function newestStampUs(partition: Pick<TopicPartition, 'fetch'>, offset: number): Promise<number> {
  const { records } = await partition.fetch(offset, 1, newestWaitMs)
  const record = records.at(-1)
  return record === undefined ? 0 : (readGroup(record.value, 0, 0)?.lastStampUs ?? 0)
}
