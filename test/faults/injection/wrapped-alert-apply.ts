/** The step from what the engine has found to what PostgreSQL has of it. */

import type * as apply from '../../../alerts/store/apply.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof apply = await import(realModule(import.meta.url))

export async function applyTransitions(...[pool, given]: Parameters<typeof apply.applyTransitions>) {
  if (given.transitions.length === 0) return await real.applyTransitions(pool, given)
  pass('alerts-found')
  let isWritten = false
  const applied = await real.applyTransitions(pool, {
    ...given,
    // Asked when alerts are written, and before what is to be told of them is.
    groupValueOf(rule, device) {
      if (!isWritten) pass('alerts-written')
      isWritten = true
      return given.groupValueOf(rule, device)
    },
  })
  pass('alerts-applied')
  return applied
}
