/** How long each state held, in total and in each hour or local day. */

import { lowerBound } from '../lower-bound.ts'
import type { Bucket } from '../summary/aggregates.ts'
import { type StateRuns, stateMax, unknownState } from './state-runs.ts'

interface StateDuration {
  readonly state: number
  readonly seconds: number
  /** Share of the known time. */
  readonly share: number
}

interface StateDurations {
  /** States that held for some time, ascending; at most 256. */
  readonly states: StateDuration[]
  readonly known_seconds: number
  /** Before the first sample, in gaps, and after an invalid sample. */
  readonly unknown_seconds: number
  /** The known time's share of the bucket so far; null for a bucket that has not begun. */
  readonly known_share: number | null
  /** Samples that show another state than the one before them; further changes between them remain undetected. */
  readonly changes: number
}

/**
 * In the buckets' order, which ascend without overlap. Only the part before now, the end of the runs, counts: known and
 * unknown seconds add up to its length.
 */
export function stateDurations(runs: StateRuns, buckets: readonly Bucket[]): StateDurations[] {
  const heldMs = new Float64Array(stateMax + 1)
  let place = 0
  return buckets.map(({ startMs, endMs: bucketEndMs }) => {
    const endMs = Math.max(startMs, Math.min(bucketEndMs, runs.endMs))
    while (place < runs.states.length && runEnd(runs, place) <= startMs) place++
    heldMs.fill(0)
    for (let run = place; run < runs.states.length; run++) {
      const fromMs = Math.max(startMs, runs.startsMs[run] as number)
      if (fromMs >= endMs) break
      const state = runs.states[run] as number
      if (state !== unknownState) (heldMs[state] as number) += Math.min(endMs, runEnd(runs, run)) - fromMs
    }
    const changes = lowerBound(runs.changesMs, bucketEndMs) - lowerBound(runs.changesMs, startMs)
    return durationsOf(heldMs, endMs - startMs, changes)
  })
}

export function runEnd(runs: StateRuns, run: number): number {
  return runs.startsMs[run + 1] ?? runs.endMs
}

function durationsOf(heldMs: Float64Array, lengthMs: number, changes: number): StateDurations {
  const knownMs = heldMs.reduce((sum, ms) => sum + ms, 0)
  const states: StateDuration[] = []
  for (const [state, ms] of heldMs.entries()) {
    if (ms > 0) states.push({ state, seconds: ms / 1000, share: ms / knownMs })
  }
  return {
    states,
    known_seconds: knownMs / 1000,
    unknown_seconds: (lengthMs - knownMs) / 1000,
    known_share: lengthMs === 0 ? null : knownMs / lengthMs,
    changes,
  }
}
