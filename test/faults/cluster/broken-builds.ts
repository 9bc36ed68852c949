/** Copies of the source that each break one guarantee of a cluster. */

import type { BrokenBuild } from '../broken-builds.ts'
import { runInTurn } from './cluster-matrix.ts'

/** These need a leader whose followers lag behind. */
const buildsOfThree: BrokenBuild[] = [
  {
    name: 'acknowledged by the leader alone',
    file: 'ingest/kafka/client/appender.ts',
    from: 'const allInSync = -1',
    to: 'const allInSync = 1',
    cycle: runInTurn('followers frozen, leader killed'),
  },
]

const buildsOfOne: BrokenBuild[] = [
  {
    name: 'no fencing of a frozen forwarder',
    file: 'store/postgres/held-lock.ts',
    from: 'return process.hrtime.bigint() < Atomics.load(this.shared, 0)',
    to: 'return true',
    // The successor would otherwise send the overwritten rows again.
    also: {
      file: 'ingest/kafka/consume/spool-source.ts',
      from: 'mayHaveSentLate: () => isLate || unanswered.size > 0',
      to: 'mayHaveSentLate: () => false',
    },
    cycle: runInTurn('holder frozen with a backlog'),
  },
  {
    name: 'the same number again after an unknown outcome',
    file: 'ingest/kafka/client/appender.ts',
    from: 'function afterUnknown(producer: Producer): Producer {\n  return nextEpoch(producer)',
    to: 'function afterUnknown(producer: Producer): Producer {\n  return producer',
    cycle: runInTurn('answers of the brokers swallowed'),
  },
  {
    name: 'a node lets in without a lease',
    file: 'auth/nodes/leadership.ts',
    from: 'return Math.min(this.#endMs - performance.now(), this.#endWallMs - this.#wallMs())',
    to: 'return this.#lengthMs',
    cycle: runInTurn('api frozen, passwords changed'),
  },
  {
    name: 'a change is answered before the other node has it',
    file: 'auth/nodes/nodes.ts',
    from: 'if (behind.count === 0 && sizeMs <= steppedMs + stepSlackMs) return',
    to: 'return',
    cycle: runInTurn('api cut from PostgreSQL, passwords changed'),
  },
  {
    name: 'offsets committed before they are applied',
    file: 'ingest/kafka/consume/spool-source.ts',
    from: 'const committable = keepMs > 0 && !isSynced ? Math.min(kept, recorded) : recorded',
    to: 'const committable = next',
    also: {
      file: 'ingest/forwarder/settle-position.ts',
      from: 'if (applied !== undefined && applied.position >= committed) {',
      to: 'if (applied !== undefined) {',
    },
    cycle: runInTurn('QuestDB frozen, holder killed'),
  },
]

export const brokenClusterBuilds = (brokers: 1 | 3): readonly BrokenBuild[] =>
  brokers === 1 ? buildsOfOne : [...buildsOfThree, ...buildsOfOne]
