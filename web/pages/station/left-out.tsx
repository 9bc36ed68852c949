/** Which points of the range that is shown are left out, and why. */

import type { StationUnits } from '../../../query/shapes/station.ts'
import { useRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import type { Quantities } from '../../text/quantities.ts'
import type { Measured } from '../device/measured.ts'
import { readingPresets } from '../device/readings.tsx'
import { leftOutSentences } from './left-out-sentences.ts'

export function LeftOut({ of, quantities }: { of: Measured; quantities: Quantities }) {
  const { window } = useRange(readingPresets)
  const query = `start=${Math.floor(window.fromMs)}&end=${Math.ceil(window.toMs)}`
  const rested = useRested(addressOf(`/api/${of.pathOf('units', query)}`))
  const units = lastValue(useResource<StationUnits>(rested))
  const sentences = units === undefined ? [] : leftOutSentences(units, quantities)
  return sentences.length === 0 ? null : <p class="lead left-out">{sentences.join(' ')}</p>
}
