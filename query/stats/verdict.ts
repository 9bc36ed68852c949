/** Whether there is enough of a series for a statistic, and if not, why. */

import { type Reason, reasons } from '../../analytics/reasons.ts'
import { isConstant, type Moments } from '../../analytics/summary/moments.ts'

export interface Verdict {
  readonly status: 'ok' | 'no_data' | 'insufficient_data' | 'constant'
  readonly reason: Reason | null
  readonly lack: Lack | null
}

interface Lack {
  readonly needed: number
  readonly found: number
}

export interface Lacking extends Lack {
  readonly reason: Reason
}

/** `moments`: of the cells. `lacking` says what there is too little of, null: there is enough. */
export function verdictOf(moments: Moments, lacking: Lacking | null): Verdict {
  if (moments.count === 0) return { status: 'no_data', reason: reasons.noValue, lack: null }
  if (lacking !== null) {
    const { reason, needed, found } = lacking
    return { status: 'insufficient_data', reason, lack: { needed, found } }
  }
  if (isConstant(moments)) return { status: 'constant', reason: reasons.doesNotVary, lack: null }
  return { status: 'ok', reason: null, lack: null }
}
