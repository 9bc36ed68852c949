/** What the pages of alerts know of the fleet: how its metrics are called and shown, its zone, and some of its devices. */

import { useMemo } from 'preact/hooks'
import type { Fleet } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { shownZone } from '../../text/preferences.ts'
import { builtInNames, builtInQuantities, type Quantities, quantitiesOf } from '../../text/quantities.ts'
import { createTimes, type Times } from '../../theme/times.ts'

/** A metric that none of the first devices has is called by its name alone. */
const limit = 200

export interface KnownFleet {
  /** Whether it has come; until then the metrics are those that every device may have. */
  readonly isKnown: boolean
  readonly quantities: Quantities
  /** Of metrics that rules can be about. */
  readonly metrics: readonly string[]
  readonly times: Times
}

export function useFleet(): KnownFleet {
  const fleet = lastValue(useResource<Fleet>(addressOf(`/api/fleet?limit=${limit}&order=name`)))
  return useMemo(() => {
    const isKnown = fleet !== undefined
    const times = createTimes(shownZone(fleet?.time_zone ?? 'UTC'))
    if (fleet?.metrics === undefined) return { isKnown, quantities: builtInQuantities, metrics: builtInNames, times }
    const custom = Object.keys(fleet.metrics).filter(name => !builtInNames.some(builtIn => builtIn === name))
    return { isKnown, quantities: quantitiesOf(fleet.metrics), metrics: [...builtInNames, ...custom], times }
  }, [fleet])
}
