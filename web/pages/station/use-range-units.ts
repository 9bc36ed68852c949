/** In which units the points of the range that is shown are. */

import type { StationUnits } from '../../../query/shapes/station.ts'
import { useRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import type { ResourceState } from '../../client/resource-state.ts'
import { useKept } from '../../client/use-kept.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import type { Measured } from '../device/measured.ts'
import { readingPresets } from '../device/readings.tsx'

export interface RangeUnits {
  readonly state: ResourceState<StationUnits>
  /** Those of the range before, while this one's are on their way: a range that ends now is another one each minute. */
  readonly units: StationUnits | undefined
}

export function useRangeUnits(of: Measured): RangeUnits {
  const { window } = useRange(readingPresets)
  const query = `start=${Math.floor(window.fromMs)}&end=${Math.ceil(window.toMs)}`
  const rested = useRested(addressOf(`/api/${of.pathOf('units', query)}`))
  const state = useResource<StationUnits>(rested)
  return { state, units: useKept(state, of.name) }
}
