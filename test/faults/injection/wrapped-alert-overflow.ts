/** What comes directly after notifications were made and committed. */

import type * as overflow from '../../../alerts/outbox/overflow.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof overflow = await import(realModule(import.meta.url))

export function createOverflow(...given: Parameters<typeof overflow.createOverflow>) {
  const created = real.createOverflow(...given)
  return {
    ...created,
    check() {
      pass('notifications-made')
      return created.check()
    },
  }
}
