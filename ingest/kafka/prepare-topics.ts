/** Creates the topics, and changes existing ones to the required settings. */

import { TopicMissing } from './kafka-errors.ts'
import type { TopicAdmin } from './topic-admin.ts'
import {
  describeTopic,
  partitionCount,
  type TopicDifference,
  type TopicRequirements,
  topicDifferences,
  topicSettings,
} from './topic-settings.ts'

export interface PreparedTopic {
  topic: string
  /** Created by this call. */
  isNew: boolean
  /** Changed by this call; empty without `apply`. */
  changed: TopicDifference[]
  /** Settings that were not changed. */
  left: TopicDifference[]
}

export interface PrepareOptions {
  requirements: TopicRequirements
  /** Changes existing topics, as far as no record is lost by it. */
  apply: boolean
}

/** Idempotent. */
export async function prepareTopic(
  admin: TopicAdmin,
  topic: string,
  { requirements, apply }: PrepareOptions,
): Promise<PreparedTopic> {
  const present = await describeTopic(admin, topic)
  if (present === undefined) {
    const layout = { partitions: partitionCount, replication: requirements.replication }
    const isNew = await admin.create({ name: topic, ...layout, settings: valuesOf(requirements) })
    const made = await describeTopic(admin, topic)
    if (made === undefined) throw new TopicMissing(`topic ${topic} was made and is not there`)
    return { topic, isNew, changed: [], left: topicDifferences(made, requirements) }
  }
  const differences = topicDifferences(present, requirements)
  const changed = apply ? differences.filter(({ obstacle }) => obstacle === undefined) : []
  if (changed.length === 0) return { topic, isNew: false, changed, left: differences }
  await admin.change(topic, Object.fromEntries(changed.map(({ name, wanted }) => [name, wanted])))
  const left = differences.filter(difference => !changed.includes(difference))
  return { topic, isNew: false, changed, left }
}

function valuesOf(requirements: TopicRequirements): Record<string, string> {
  return Object.fromEntries(topicSettings(requirements).map(({ name, wanted }) => [name, wanted]))
}
