/** What the write path keeps in a real PostgreSQL: states of shards, and claims of idempotency keys. */

import './idempotency/claims.ts'
import './shard-state.ts'
import './shard-state-model.ts'
import './shard-state-reader.ts'
