/** Measures facts of the service for operators' rules. */

import type { Fact } from '../alerts/core/condition.ts'
import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import type { TopicState } from '../ingest/kafka/topic-watch.ts'
import type { Questdb } from '../store/questdb/questdb.ts'
import { type QuestdbReplica, replicaPrefix } from '../store/questdb/questdb-replicas.ts'
import type { DiskUse } from './lifecycle/disk/disk-use.ts'

export interface AlertFactsOptions {
  replicas: readonly QuestdbReplica<Pick<Questdb, 'state'>>[]
  ingest: Pick<Ingest, 'status'>
  pointsIngest: Pick<PointsIngest, 'status'>
  /** Kafka topics that serve as journals; undefined with journals on disk. */
  topicStates?: (() => TopicState[]) | undefined
  diskUse: Pick<DiskUse, 'read'>
  nowMs: () => number
}

const hourMs = 3_600_000

/** Called several times a minute. */
export function createAlertFacts(options: AlertFactsOptions): () => Promise<readonly Fact[]> {
  const { replicas, ingest, pointsIngest, topicStates, diskUse, nowMs } = options
  let awaySinceMs: number | undefined
  let steps = ingest.status().clock.steps
  const steppedMs: number[] = []

  function questdbAway(): Fact {
    const away = replicas.filter(({ questdb }) => questdb.state().state !== 'up')
    awaySinceMs = away.length === 0 ? undefined : (awaySinceMs ?? nowMs())
    const seconds = awaySinceMs === undefined ? 0 : Math.max(1, Math.round((nowMs() - awaySinceMs) / 1000))
    const text = away
      .map(replica => replicaPrefix(replicas, replica) + (replica.questdb.state().reason ?? ''))
      .join('; ')
    return { fact: 'questdb_away', value: seconds, text }
  }

  function forwardingLate(): Fact {
    const seconds = Math.max(ingest.status().lag.seconds, pointsIngest.status().lag.seconds)
    const problems = (topicStates?.() ?? []).flatMap(({ problems }) => problems)
    const text = problems.find(({ kind }) => kind === 'unforwarded')?.text ?? ''
    return { fact: 'forwarding_late', value: Math.round(seconds), text }
  }

  function deadLetters(): Fact {
    const count = ingest.status().forwarder.deadLetters + pointsIngest.status().forwarder.deadLetters
    return { fact: 'dead_letters', value: count, text: '' }
  }

  function journalFull(): Fact {
    const shares = [ingest.status(), pointsIngest.status()].map(({ journal }) => journal.bytes / journal.bytesMax)
    // The retention of a topic bounds it.
    shares.push(...(topicStates?.() ?? []).map(({ share = 0 }) => share))
    return { fact: 'journal_full', value: Math.max(...shares), text: ingest.status().journal.issue ?? '' }
  }

  function clockStepped(): Fact {
    const { clock } = ingest.status()
    for (; steps < clock.steps; steps++) steppedMs.push(nowMs())
    while ((steppedMs[0] ?? nowMs()) < nowMs() - hourMs) steppedMs.shift()
    return { fact: 'clock_stepped', value: steppedMs.length, text: '' }
  }

  async function diskFull(): Promise<Fact> {
    const { daysUntilFull } = await diskUse.read()
    return { fact: 'disk_full', value: daysUntilFull ?? Number.POSITIVE_INFINITY, text: '' }
  }

  return async () => [questdbAway(), forwardingLate(), deadLetters(), journalFull(), clockStepped(), await diskFull()]
}
