/** The topic aliases of one connection (MQTT 5, 3.3.2.3.4). */

import { PacketError } from './packet-error.ts'
import type { ByteBudget } from './packet-reader.ts'
import type { Publish } from './packets.ts'

/** A topic of which so much is kept is too long for a device, and stays so. */
const topicLengthMax = 1024

export class TopicAliases {
  readonly #aliasMax: number
  readonly #budget: ByteBudget
  readonly #topics = new Map<number, string>()
  #bytesHeld = 0

  constructor(aliasMax: number, budget: ByteBudget) {
    this.#aliasMax = aliasMax
    this.#budget = budget
  }

  /** The topic of a message. Throws a `PacketError`. */
  topicOf({ topic, properties: { topicAlias: alias } }: Publish): string {
    if (alias === undefined) return topic
    if (alias === 0 || alias > this.#aliasMax) throw new PacketError('topic_alias', 'the topic alias is out of range')
    const known = this.#topics.get(alias)
    if (topic === '') {
      if (known === undefined) throw new PacketError('protocol_error', 'the topic alias has no topic')
      return known
    }
    if (topic !== known) this.#set(alias, cut(topic), known)
    return topic
  }

  close(): void {
    this.#budget.give(this.#bytesHeld)
    this.#bytesHeld = 0
    this.#topics.clear()
  }

  #set(alias: number, topic: string, known = ''): void {
    const more = (topic.length - known.length) * 2
    if (!this.#budget.take(more)) throw new PacketError('quota', 'too many topic aliases')
    this.#bytesHeld += more
    this.#topics.set(alias, topic)
  }
}

/** A copy, since a slice of a string keeps all of it in memory. */
function cut(topic: string): string {
  return topic.length <= topicLengthMax ? topic : Buffer.from(topic.slice(0, topicLengthMax)).toString()
}
