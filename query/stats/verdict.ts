/** Whether there is enough of a series for a figure, and if not, why. */

import { isConstant, momentsOf } from '../../analytics/moments.ts'

export interface Verdict {
  readonly status: 'ok' | 'no_data' | 'insufficient_data' | 'constant'
  readonly reason: string | null
}

/** Of cells in order, NaN where missing. `lacking` says what there is too little of, null: there is enough. */
export function verdictOf(cells: Float64Array, lacking: string | null): Verdict {
  const moments = momentsOf(cells)
  if (moments.count === 0) return { status: 'no_data', reason: 'no value in the window' }
  if (lacking !== null) return { status: 'insufficient_data', reason: lacking }
  if (isConstant(moments)) return { status: 'constant', reason: 'the values do not vary' }
  return { status: 'ok', reason: null }
}
