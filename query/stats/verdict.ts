/** Whether there is enough of a series for a statistic, and if not, why. */

import { type ReasonText, reasonTexts } from '../../analytics/reasons.ts'
import { isConstant, type Moments } from '../../analytics/summary/moments.ts'

export interface Verdict {
  readonly status: 'ok' | 'no_data' | 'insufficient_data' | 'constant'
  readonly reason: ReasonText | null
}

/** `moments`: of the cells. `lacking` says what there is too little of, null: there is enough. */
export function verdictOf(moments: Moments, lacking: ReasonText | null): Verdict {
  if (moments.count === 0) return { status: 'no_data', reason: reasonTexts.noValue }
  if (lacking !== null) return { status: 'insufficient_data', reason: lacking }
  if (isConstant(moments)) return { status: 'constant', reason: reasonTexts.doesNotVary }
  return { status: 'ok', reason: null }
}
