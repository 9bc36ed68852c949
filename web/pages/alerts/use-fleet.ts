/** Names, units and zone of the fleet's metrics, and some of its devices, for the alert pages. */

import { useMemo } from 'preact/hooks'
import type { Fleet } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { shownZone } from '../../text/preferences.ts'
import { builtInNames, builtInQuantities, type Quantities, quantitiesOf } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import type { Times } from '../../theme/times.ts'

/** A metric that the first devices lack is shown by its bare name. */
const limit = 200

export interface KnownFleet {
  /** False until the answer arrives; until then the built-in metrics are offered. */
  readonly isKnown: boolean
  readonly quantities: Quantities
  /** The metrics that rules may use. */
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
