/** What forwards the topics of a shard is made of. */

import type { TopicSettler } from './settle-topics.ts'
import type { HeldShard } from './shard-lock.ts'
import type { ShardState, ShardTenure } from './shard-state.ts'
import type { TopicForwarderOptions } from './topic-forwarder.ts'
import type { ForwardedTopic, QuestdbStart } from './topic-thread.ts'

export interface ShardForwarderOptions
  extends Pick<TopicForwarderOptions, 'kafka' | 'bytesMax' | 'reserveBytes' | 'keepMs' | 'log' | 'onFatal'> {
  topics: readonly ForwardedTopic[]
  /** Resolves when this process has the shard; rejects when the signal aborts. */
  acquire: (signal: AbortSignal) => Promise<HeldShard>
  createState: (tenure: ShardTenure | undefined) => ShardState
  /** QuestDB as it is now, for this topic; resolves when it is there. */
  openQuestdb: (topic: string) => Promise<QuestdbStart>
  /** See TopicForwarderOptions. */
  settle: TopicSettler['settle']
}
