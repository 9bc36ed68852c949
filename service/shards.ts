/** A shard of a service: its QuestDB, and what is on its way there. */

import type { Ingest } from '../ingest/ingest.ts'
import type { QuestdbShard } from '../store/questdb/questdb-shards.ts'

export interface ServiceShard extends QuestdbShard {
  /** Of its readings alone. */
  ingest: Pick<Ingest, 'status' | 'endOfAll' | 'onLost' | 'oldestSentSince' | 'erase' | 'shared'>
}
