/** Data of the write path in a real PostgreSQL: states of replicas, and claims of idempotency keys. */

import './idempotency/claims.ts'
import './replica-state.ts'
import './replica-state-model.ts'
import './replica-state-reader.ts'
