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
  /** Grows when it has one again after a time without: what was let in in an earlier term is not appended. */
  leaseTerm: () => number
}

export function createTopicMedium(options: TopicMediumOptions): JournalMedium {
  const { connection, topic, end, stamper, refusal, leaseLeftMs, leaseTerm } = options
  return {
    // Nobody counts the records of all nodes.
    end: { position: end, ordinal: 0 },
    tornBytes: 0,
    stamper,
    refusal,
    term: leaseTerm,
    // The topic has a bound in time alone.
    bytesMax: Number.MAX_SAFE_INTEGER,
    bytesUpTo: () => 0,
    trimmed: () => undefined,
    startThread(shared, hooks) {
      const deadline = new AppendDeadline()
      const thread = startAppendThread({ connection, topic, shared, deadline: deadline.shared }, hooks)
      return whileLeased(thread, { deadline, leaseLeftMs, leaseTerm, shared, hooks })
    },
  }
}

interface LeaseCheck extends Pick<TopicMediumOptions, 'leaseLeftMs' | 'leaseTerm'> {
  deadline: Pick<AppendDeadline, 'begin'>
  shared: JournalShared
  hooks: JournalThreadHooks
}

/**
 * Hands over a group only while the node has a lease, and has had one since the first record of the group was let in: it may have
 * waited behind a group in doubt for so long that a revocation was answered without this node. Otherwise nothing of the group is stored.
 */
export function whileLeased(thread: JournalThread, check: LeaseCheck): JournalThread {
  const { deadline, leaseLeftMs, leaseTerm, shared, hooks } = check

  function refuse(reason: string): void {
    const end = Number(Atomics.load(shared.durableEnd, 0))
    hooks.onMessage({ kind: 'committed', outcome: 'full', end, reason })
  }

  return {
    ...thread,
    commit(term) {
      if (!deadline.begin(leaseLeftMs)) setImmediate(refuse, 'this node has no lease')
      else if (term !== leaseTerm()) setImmediate(refuse, 'this node had no lease for a while')
      else thread.commit(term)
    },
  }
}
