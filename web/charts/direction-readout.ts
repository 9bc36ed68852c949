/** A direction at the cursor, with the point of the compass. */

import { directionText } from '../text/compass.ts'
import { valueAt } from './line-data.ts'
import type { Readout } from './panel.ts'

/** Formats values in degrees. */
export function directionReadout(
  series: Pick<Readout, 'timesMs' | 'values'>,
  reachMs: number,
  decimals: number,
): Pick<Readout, 'timesMs' | 'values' | 'textAt'> {
  return {
    ...series,
    textAt: atMs => {
      const value = valueAt(series, atMs, reachMs)
      return value === null ? null : directionText(value, decimals)
    },
  }
}
