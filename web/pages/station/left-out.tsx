/** Which points of the range that is shown are left out, and why. */

import type { StationUnits } from '../../../query/shapes/station.ts'
import type { Quantities } from '../../text/quantities.ts'
import { leftOutSentences } from './left-out-sentences.ts'

export function LeftOut({ units, quantities }: { units: StationUnits | undefined; quantities: Quantities }) {
  const sentences = units === undefined ? [] : leftOutSentences(units, quantities)
  return sentences.length === 0 ? null : <p class="lead left-out">{sentences.join(' ')}</p>
}
