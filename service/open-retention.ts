/** Opens what makes readings expire, by the settings, with connections of its own to each QuestDB. */

import { noFeed } from '../auth/nodes/change-feed.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { AcceptedFrom } from '../lifecycle/retention/accepted-from.ts'
import { openRetention, type Retention } from '../lifecycle/retention/retention.ts'
import { createRetentionNodes } from '../lifecycle/retention/retention-nodes.ts'
import type { Config } from '../settings/config.ts'
import type { Log } from '../store/log.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { ServiceNodes } from './open-nodes.ts'
import type { ServiceReplica } from './replicas.ts'

interface RetentionParts {
  store: Pick<Store, 'postgres'>
  replicas: readonly ServiceReplica[]
  ingest: Pick<Ingest, 'endOfAll'>
  acceptedFrom: AcceptedFrom
  clockMs: Clock
  nodes: Pick<ServiceNodes, 'feed' | 'leads'>
}

const minuteMs = 60_000
const checkEveryMs = minuteMs
const execTimeoutMs = 60_000
/** A node looks more often, since one that is cut off from PostgreSQL hears of no day. */
const nodeCheckEveryMs = 20_000
const knownMs = 45_000
/** An import may take this long from the check of a piece to the journal, and a clock be wrong, without harm. */
const marginMs = 60 * minuteMs

export function openServiceRetention(config: Config, log: Log, parts: RetentionParts): Retention {
  const { store, replicas, ingest, acceptedFrom, clockMs } = parts
  const { feed, leads } = parts.nodes
  const nodes = feed === noFeed ? undefined : createRetentionNodes({ pool: store.postgres, feed, leads })
  const clients = replicas.map(({ questdb }) => createQuestdbClient(questdb.address.http))
  const retention = openRetention({
    days: config.RETENTION_DAYS,
    acceptedFrom,
    replicas: replicas.map((replica, at) => {
      const client = clients[at] as (typeof clients)[number]
      return {
        ...replica,
        readings: { ...replica.readings, endOfAll: ingest.endOfAll },
        isLost: () => replica.readings.lost() !== undefined,
        exec: sql => client.exec(sql, execTimeoutMs),
      }
    }),
    nowMs: clockMs,
    nodes,
    log,
    timing: {
      checkEveryMs: nodes === undefined ? checkEveryMs : nodeCheckEveryMs,
      knownMs,
      marginMs,
      graceMs: config.QUERY_TIMEOUT_SECONDS * 1000 + minuteMs,
    },
  })
  async function close(): Promise<void> {
    for (const client of clients) client.close()
    await retention.close()
  }
  return { ...retention, close }
}
