/** Describes the replicas of a service: their QuestDB, and the part of the journals that it shows. */

import type { ShownReplica } from '../ingest/write-path.ts'
import type { Replicas } from '../query/replicas.ts'
import { bug } from '../store/limits/bug.ts'
import type { Log } from '../store/log.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import type { Questdb } from '../store/questdb/questdb.ts'
import type { QuestdbReplica } from '../store/questdb/questdb-replicas.ts'
import type { Store } from '../store/store.ts'
import { compareReplicas } from './backup/compare-replicas.ts'
import type { Clock } from './clock.ts'
import type { Retention } from './lifecycle/retention/retention.ts'
import type { ServiceNodes } from './open-nodes.ts'

/** Returns the function that ends it. */
export function compareServiceReplicas(
  log: Log,
  { replicas, store, nodes, retention, clockMs }: CompareParts,
): () => Promise<void> {
  const clients = replicas.map(({ questdb }) => createQuestdbClient(questdb.address.http))
  const comparison = compareReplicas({
    replicas: replicas.map(({ number, questdb, readings, points }, at) => ({
      number,
      questdb,
      exec: sql => (clients[at] as (typeof clients)[number]).exec(sql, execTimeoutMs),
      isLost: () => readings.lost() !== undefined,
      shown: () => [readings.shown() ?? 0, points.shown() ?? 0],
    })),
    pool: store.postgres,
    leads: nodes.leads,
    expiredBeforeMs: () => retention.expiredBeforeUs() / 1000,
    nowMs: clockMs,
    log,
  })
  return async () => {
    await comparison.close()
    for (const client of clients) client.close()
  }
}

interface CompareParts {
  replicas: readonly ServiceReplica[]
  store: Pick<Store, 'postgres'>
  nodes: Pick<ServiceNodes, 'leads'>
  retention: Pick<Retention, 'expiredBeforeUs'>
  clockMs: Clock
}

const execTimeoutMs = 60_000

export function questdbRead(
  replicas: readonly ServiceReplica[],
  { current }: Pick<Replicas, 'current'>,
): ReturnType<Questdb['state']> {
  const replica = replicas[current() - 1]
  if (replica === undefined) throw bug(`replica ${current()} is read, which is not open`)
  return replica.questdb.state()
}

/** Shows replicas as in `GET /api/admin/status`. */
export function replicaStatuses(
  replicas: readonly ServiceReplica[],
  { current, behindMs }: Pick<Replicas, 'current' | 'behindMs'>,
) {
  const behind = behindMs()
  return replicas.map(({ number, questdb, readings }, at) => {
    const { state, reason } = questdb.state()
    const lost = readings.lost()
    return {
      number,
      is_read: number === current(),
      state: lost === undefined ? state : 'lost',
      reason: lost ?? reason ?? readings.differs() ?? null,
      behind_seconds: (behind[at] ?? 0) / 1000,
    }
  })
}

/** Reasons why one of several replicas cannot be read, or lacks data of others. */
export function replicaFaults(replicas: readonly ServiceReplica[], { behindMs }: Pick<Replicas, 'behindMs'>): string[] {
  if (replicas.length === 1) return []
  const behind = behindMs()
  return replicas.flatMap(({ number, questdb, readings }, at) => {
    const { state, reason } = questdb.state()
    const seconds = Math.round((behind[at] ?? 0) / 1000)
    const away = state === 'up' ? undefined : (reason ?? `QuestDB is ${state}`)
    const late = seconds > lagSecondsMax ? `it is ${seconds} s behind` : undefined
    const fault = readings.lost() ?? away ?? late ?? readings.differs()
    return fault === undefined ? [] : [`replica ${number}: ${fault}`]
  })
}

const lagSecondsMax = 60

export interface ServiceReplica extends QuestdbReplica {
  readings: ShownReplica
  points: ShownReplica
}
