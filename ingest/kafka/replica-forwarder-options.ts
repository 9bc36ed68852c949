/** Dependencies of a replica's topic forwarders. */

import type { HeldReplica } from './replica-lock.ts'
import type { ReplicaState, ReplicaTenure } from './replica-state.ts'
import type { TopicSettler } from './settle-topics.ts'
import type { TopicForwarderOptions } from './topic-forwarder.ts'
import type { ForwardedTopic, QuestdbStart } from './topic-thread.ts'

export interface ReplicaForwarderOptions
  extends Pick<TopicForwarderOptions, 'kafka' | 'bytesMax' | 'reserveBytes' | 'keepMs' | 'log' | 'onFatal'> {
  topics: readonly ForwardedTopic[]
  /** Resolves when this process has the replica. Rejects when the signal aborts. */
  acquire: (signal: AbortSignal) => Promise<HeldReplica>
  createState: (tenure: ReplicaTenure | undefined) => ReplicaState
  /** Resolves with the present QuestDB for this topic, once it is reachable. */
  openQuestdb: (topic: string) => Promise<QuestdbStart>
  /** See TopicForwarderOptions. */
  settle: TopicSettler['settle']
}
