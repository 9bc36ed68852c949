/** How long two states were equal. */

import type { Bucket } from '../summary/aggregates.ts'
import { runEnd } from './state-durations.ts'
import { type StateRuns, unknownState } from './state-runs.ts'

interface StateAgreement {
  /** Time in which both states are known. */
  readonly known_seconds: number
  readonly same_seconds: number
  /** `same_seconds` / `known_seconds`; null without known time. */
  readonly same_share: number | null
}

export function stateAgreement(a: StateRuns, b: StateRuns, { startMs, endMs }: Bucket): StateAgreement {
  let [inA, inB, knownMs, sameMs] = [0, 0, 0, 0]
  while (inA < a.states.length && inB < b.states.length) {
    const fromMs = Math.max(startMs, a.startsMs[inA] as number, b.startsMs[inB] as number)
    const untilMs = Math.min(endMs, runEnd(a, inA), runEnd(b, inB))
    const isKnown = a.states[inA] !== unknownState && b.states[inB] !== unknownState
    if (isKnown && untilMs > fromMs) {
      knownMs += untilMs - fromMs
      if (a.states[inA] === b.states[inB]) sameMs += untilMs - fromMs
    }
    if (runEnd(a, inA) <= runEnd(b, inB)) inA++
    else inB++
  }
  return {
    known_seconds: knownMs / 1000,
    same_seconds: sameMs / 1000,
    same_share: knownMs === 0 ? null : sameMs / knownMs,
  }
}
