/** Opens what makes readings expire, by the settings, with a connection of its own to QuestDB. */

import type { Ingest } from '../ingest/ingest.ts'
import type { AcceptedFrom } from '../lifecycle/retention/accepted-from.ts'
import { openRetention, type Retention } from '../lifecycle/retention/retention.ts'
import type { Config } from '../settings/config.ts'
import type { Log } from '../store/log.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'

interface RetentionParts {
  store: Store
  ingest: Ingest
  acceptedFrom: AcceptedFrom
  clockMs: Clock
}

const minuteMs = 60_000
const execTimeoutMs = 60_000
/** An import may take this long from the check of a piece to the journal, and a clock be wrong, without harm. */
const marginMs = 60 * minuteMs

export function openServiceRetention(config: Config, log: Log, parts: RetentionParts): Retention {
  const { store, ingest, acceptedFrom, clockMs } = parts
  const { questdb } = store
  const client = createQuestdbClient(questdb.address.http)
  const retention = openRetention({
    days: config.RETENTION_DAYS,
    acceptedFrom,
    questdb,
    ingest,
    nowMs: clockMs,
    log,
    exec: sql => client.exec(sql, execTimeoutMs),
    timing: { checkEveryMs: minuteMs, marginMs, graceMs: config.QUERY_TIMEOUT_SECONDS * 1000 + minuteMs },
  })
  async function close(): Promise<void> {
    client.close()
    await retention.close()
  }
  return { ...retention, close }
}
