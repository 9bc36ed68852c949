/** The parts of a running service. They start one after the other, and close in the opposite order. */

import type { Alerts } from '../alerts/alerts.ts'
import type { Claims } from '../ingest/idempotency/claims.ts'
import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import type { TopicState } from '../ingest/kafka/state/watch.ts'
import type { Insights } from '../query/insights.ts'
import type { Live } from '../query/live/live.ts'
import type { Replicas } from '../query/replicas.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { Archive } from './lifecycle/archive/archive.ts'
import type { DiskUse } from './lifecycle/disk/disk-use.ts'
import type { AcceptedFrom } from './lifecycle/retention/horizon.ts'
import type { Retention } from './lifecycle/retention/retention.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import type { ServiceNodes } from './open-nodes.ts'
import type { ServiceQueries } from './open-queries.ts'
import type { Registries } from './open-registries.ts'
import type { SignIn } from './open-sign-in.ts'
import type { ServiceReplica } from './replicas.ts'

export interface Service {
  url: string
  /** Stops all started parts. Idempotent. */
  close(): Promise<void>
}

/** `open` resolves to the listening address, and reports each part's close function as soon as it is open. */
export async function startParts(open: (onOpen: (close: () => unknown) => void) => Promise<string>): Promise<Service> {
  const opened: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  const closeAll = async () => {
    const faults: unknown[] = []
    for (const close of opened.toReversed()) {
      try {
        await close()
      } catch (error) {
        faults.push(error)
      }
    }
    // One part that fails to close must not keep the others open.
    if (faults.length > 0) throw new AggregateError(faults, 'not everything could be closed')
  }
  try {
    const url = await open(close => opened.push(close))
    return {
      url,
      close() {
        closing ??= closeAll()
        return closing
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

export interface ServiceParts extends ServiceQueries, Registries {
  directory: DataDirectory
  clockMs: Clock
  store: Store
  /** The first one has the QuestDB of the store. */
  replicas: readonly ServiceReplica[]
  readReplicas: Replicas
  ingest: Ingest
  pointsIngest: PointsIngest
  /** Kafka topics that serve as journals; undefined with journals on disk. */
  topicStates?: (() => TopicState[]) | undefined
  accounts: ServiceAccounts
  signIn: SignIn
  diskUse: DiskUse
  claims: Claims
  live: Live
  insights: Insights
  alerts: Alerts
  acceptedFrom: AcceptedFrom
  archive: Archive
  retention: Retention
  nodes: Pick<ServiceNodes, 'join' | 'feed' | 'leads' | 'fault' | 'count' | 'several'>
}
