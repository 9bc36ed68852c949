/** A notification that was sent, before and after that is noted. */

import type * as outcomes from '../../../alerts/delivery/outcome-rows.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof outcomes = await import(realModule(import.meta.url))

export async function noteOutcome(...given: Parameters<typeof outcomes.noteOutcome>) {
  pass('notification-sent')
  const noted = await real.noteOutcome(...given)
  pass('notification-noted')
  return noted
}
