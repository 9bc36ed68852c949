/** A topic of Kafka, as what the groups of a journal are written to: one record a group, in its one partition. */

import type { JournalShared } from '../journal/journal-shared.ts'
import type { JournalThread, JournalThreadHooks } from '../journal/journal-worker.ts'
import type { JournalMedium } from '../journal/medium.ts'
import type { Stamper } from '../journal/stamp.ts'
import { AppendDeadline } from './append-deadline.ts'
import { startAppendThread } from './append-worker.ts'
import type { KafkaOptions } from './connect.ts'

export interface TopicMediumOptions {
  /** For the thread, which has connections of its own. */
  connection: KafkaOptions
  topic: string
  /** Where the topic ends. */
  end: number
  /** Unlike those of all other processes that append to the topic. */
  stamper: Stamper
  /** Why nothing more may be appended. */
  refusal: () => string | undefined
  /** For how long from now on what is let in may be appended, milliseconds; not above 0 where the node has no lease. */
  leaseLeftMs: () => number
}

export function createTopicMedium(options: TopicMediumOptions): JournalMedium {
  const { connection, topic, end, stamper, refusal, leaseLeftMs } = options
  return {
    // Nobody counts the records of all nodes.
    end: { position: end, ordinal: 0 },
    tornBytes: 0,
    stamper,
    refusal,
    // The topic has a bound in time alone.
    bytesMax: Number.MAX_SAFE_INTEGER,
    bytesUpTo: () => 0,
    trimmed: () => undefined,
    startThread(shared, hooks) {
      const deadline = new AppendDeadline()
      const thread = startAppendThread({ connection, topic, shared, deadline: deadline.shared }, hooks)
      return whileLeased(thread, { deadline, leaseLeftMs, shared, hooks })
    },
  }
}

interface LeaseCheck {
  deadline: AppendDeadline
  leaseLeftMs: () => number
  shared: JournalShared
  hooks: JournalThreadHooks
}

/** Hands over a group only while the node has a lease; without one nothing of the group is stored. */
function whileLeased(thread: JournalThread, { deadline, leaseLeftMs, shared, hooks }: LeaseCheck): JournalThread {
  function refuse(): void {
    const end = Number(Atomics.load(shared.durableEnd, 0))
    hooks.onMessage({ kind: 'committed', outcome: 'full', end, reason: 'this node has no lease' })
  }

  return {
    ...thread,
    commit() {
      if (deadline.begin(leaseLeftMs)) thread.commit()
      else setImmediate(refuse)
    },
  }
}
