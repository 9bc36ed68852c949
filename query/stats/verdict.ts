/** Whether there is enough of a series for a figure, and if not, why. */

import { isConstant, type Moments } from '../../analytics/summary/moments.ts'

export interface Verdict {
  readonly status: 'ok' | 'no_data' | 'insufficient_data' | 'constant'
  readonly reason: string | null
}

/** `moments`: of the cells. `lacking` says what there is too little of, null: there is enough. */
export function verdictOf(moments: Moments, lacking: string | null): Verdict {
  if (moments.count === 0) return { status: 'no_data', reason: 'no value in the window' }
  if (lacking !== null) return { status: 'insufficient_data', reason: lacking }
  if (isConstant(moments)) return { status: 'constant', reason: 'the values do not vary' }
  return { status: 'ok', reason: null }
}
