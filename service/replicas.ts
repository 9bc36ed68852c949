/** A replica of a service: its QuestDB, and what is on its way there. */

import type { Ingest } from '../ingest/ingest.ts'
import type { QuestdbReplica } from '../store/questdb/questdb-replicas.ts'

export interface ServiceReplica extends QuestdbReplica {
  /** Of its readings alone. */
  ingest: Pick<Ingest, 'status' | 'endOfAll' | 'onLost' | 'oldestSentSince' | 'erase' | 'shared'>
}
