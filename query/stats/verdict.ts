/** Decides whether a series suffices for a statistic, and gives the reason if not. */

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

/** `moments` describe the cells. `lacking` names the shortage, null if there is none. */
export function verdictOf(moments: Moments, lacking: Lacking | null): Verdict {
  if (moments.count === 0) return { status: 'no_data', reason: reasons.noValue, lack: null }
  if (lacking !== null) {
    const { reason, needed, found } = lacking
    return { status: 'insufficient_data', reason, lack: { needed, found } }
  }
  if (isConstant(moments)) return { status: 'constant', reason: reasons.doesNotVary, lack: null }
  return { status: 'ok', reason: null, lack: null }
}
