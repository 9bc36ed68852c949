/** The time zone of the service. */

import type { Fleet } from '../../query/live/fleet-shape.ts'
import { addressOf } from './address.ts'
import { lastValue } from './resource-state.ts'
import { useResource } from './use-resource.ts'

const everyMs = 600_000

/** Undefined while unknown. A link to single devices may not read the fleet: its pages use the browser's zone. */
export function useServiceZone(): string | undefined {
  const state = useResource<Fleet>(addressOf('/api/fleet?limit=1'), { everyMs })
  if (state.kind === 'failed') return Intl.DateTimeFormat().resolvedOptions().timeZone
  return lastValue(state)?.time_zone
}
