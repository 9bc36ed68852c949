/** The parts of a forwarder of the topics of a replica. */

import type { HeldReplica } from './replica-lock.ts'
import type { ReplicaState, ReplicaTenure } from './replica-state.ts'
import type { TopicSettler } from './settle-topics.ts'
import type { TopicForwarderOptions } from './topic-forwarder.ts'
import type { ForwardedTopic, QuestdbStart } from './topic-thread.ts'

export interface ReplicaForwarderOptions
  extends Pick<TopicForwarderOptions, 'kafka' | 'bytesMax' | 'reserveBytes' | 'keepMs' | 'log' | 'onFatal'> {
  topics: readonly ForwardedTopic[]
  /** Resolves when this process has the replica; rejects when the signal aborts. */
  acquire: (signal: AbortSignal) => Promise<HeldReplica>
  createState: (tenure: ReplicaTenure | undefined) => ReplicaState
  /** QuestDB as it is now, for this topic; resolves when it is there. */
  openQuestdb: (topic: string) => Promise<QuestdbStart>
  /** See TopicForwarderOptions. */
  settle: TopicSettler['settle']
}
