/** A notification that is made, in a transaction that is not committed yet. */

import type * as flush from '../../../alerts/outbox/flush-group.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof flush = await import(realModule(import.meta.url))

export async function flushGroup(...given: Parameters<typeof flush.flushGroup>) {
  const flushed = await real.flushGroup(...given)
  pass('group-told')
  return flushed
}
