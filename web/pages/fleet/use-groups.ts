/** What the service counts of the groups: read again when states and alerts change, and from time to time. */

import { useEffect } from 'preact/hooks'
import type { FiringGroups } from '../../../alerts/core/alert.ts'
import type { FleetGroups } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { firingAlerts } from '../../client/firing.ts'
import { lastValue } from '../../client/resource-state.ts'
import { isSignedIn } from '../../client/session.ts'
import { useRefreshed } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import type { GroupCounts } from './fleet-groups.ts'
import { tagArguments } from './fleet-tags.ts'
import type { Fleet } from './open-fleet.ts'

const everyMs = 10_000
/** An event is one of many where a site goes down. */
const restMs = 1_000

/** `key` undefined: there are no groups. */
export function useGroups({ tags, counts }: Fleet, key: string | undefined): GroupCounts {
  const query = key === undefined ? undefined : `key=${key}${tagArguments(tags)}`
  const groups = useRefreshed<FleetGroups>(query && addressOf(`/api/fleet/groups?${query}`), { everyMs })
  const path = isSignedIn.value ? query : undefined
  const firing = useRefreshed<FiringGroups>(path && addressOf(`/api/alerts/groups?${path}`), { everyMs: 6 * everyMs })
  const states = useRested(JSON.stringify(counts.value ?? null), restMs)
  const alerts = useRested(firingAlerts.value.map(({ id }) => id).join(), restMs)
  useEffect(groups.refresh, [states])
  useEffect(firing.refresh, [alerts])
  return { groups: lastValue(groups.state), firing: lastValue(firing.state) }
}
