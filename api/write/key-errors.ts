/** Maps refusals of an idempotency key to errors. */

import type { ClaimRefusal } from '../../ingest/idempotency/claim-group.ts'
import { databaseAway, outcomeRefusals } from '../../ingest/intake/intake.ts'
import type { Refusal } from '../../ingest/intake/refusal.ts'

export const claimRefusals: Record<ClaimRefusal, Refusal> = {
  ...outcomeRefusals,
  'other request': { reason: 'key_reused', code: 'KEY_REUSED' },
  'too many of writer': { reason: 'throttled', code: 'TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER' },
  'too many': { reason: 'full', code: 'TOO_MANY_IDEMPOTENCY_KEYS' },
  'database away': databaseAway,
}
