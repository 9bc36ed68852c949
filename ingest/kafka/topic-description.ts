/** A topic as the brokers have it. */

import type { Partition } from './cluster.ts'
import { TopicMissing } from './kafka-errors.ts'
import type { TopicAdmin } from './topic-admin.ts'

export interface TopicDescription {
  name: string
  partitions: Partition[]
  /** Values in effect, by name: those of the topic, else the defaults of the brokers. */
  settings: ReadonlyMap<string, string | null>
}

export type TopicSource = Pick<TopicAdmin, 'partitions' | 'settings'>

/** Undefined when there is no such topic. Throws `KafkaAway` and `Refused`. */
export async function describeTopic(admin: TopicSource, name: string): Promise<TopicDescription | undefined> {
  const partitions = await admin.partitions(name)
  if (partitions === undefined) return undefined
  try {
    return { name, partitions, settings: await admin.settings(name) }
  } catch (error) {
    // Deleted meanwhile, or made so lately that not all brokers have heard of it.
    if (error instanceof TopicMissing) return undefined
    throw error
  }
}
