/** A notification that is claimed, and not sent yet. */

import type * as claims from '../../../alerts/delivery/claim-rows.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof claims = await import(realModule(import.meta.url))

export const { claimMs, giveBackClaim, waitingChannels } = real

export async function claimNext(...given: Parameters<typeof claims.claimNext>) {
  const claimed = await real.claimNext(...given)
  if (claimed !== undefined) pass('notification-claimed')
  return claimed
}
