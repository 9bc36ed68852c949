/** The duration of each state, in total and in each hour or local day. */

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
  /** Time before the first sample, in gaps, and after an invalid sample. */
  readonly unknown_seconds: number
  /** The known time's share of the bucket so far; null for a bucket that has not begun. */
  readonly known_share: number | null
  /** Samples that show another state than the one before them; further changes between them remain undetected. */
  readonly changes: number
}

/**
 * The result has the order of the buckets, which ascend without overlap. Only the part before now, the end of the runs,
 * counts. Known and unknown seconds add up to its length.
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

function runEnd(runs: StateRuns, run: number): number {
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

interface StateAgreement {
  /** Time in which both states are known. */
  readonly known_seconds: number
  readonly same_seconds: number
  /** `same_seconds` / `known_seconds`; null without known time. */
  readonly same_share: number | null
}

/** Time for which two states were equal. */
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

/** `[start_ms, end_ms)`. */
interface StateEpisode {
  /** Null while unknown. */
  readonly state: number | null
  readonly start_ms: number
  readonly end_ms: number
  readonly duration_seconds: number
  /** It extends to now and may last longer. */
  readonly ongoing: boolean
}

interface StateChange {
  /** The first sample with the new state. The change may be as old as the sample before. */
  readonly at_ms: number
  readonly from: number
  readonly to: number
}

interface StateEpisodes {
  /** Newest first, at most `episodesMax`; `episodes_total` counts them all, including unknown ones. */
  readonly episodes: StateEpisode[]
  readonly episodes_total: number
  readonly changes_total: number
  readonly last_change: StateChange | null
}

/** Throws a RangeError unless `episodesMax` is a whole number from 1. */
export function stateEpisodes(runs: StateRuns, episodesMax: number): StateEpisodes {
  if (!(Number.isInteger(episodesMax) && episodesMax >= 1))
    throw new RangeError(`invalid maximum of episodes: ${episodesMax}`)
  const total = runs.states.length
  const episodes: StateEpisode[] = []
  for (let run = total - 1; run >= Math.max(0, total - episodesMax); run--) episodes.push(episodeAt(runs, run))
  return {
    episodes,
    episodes_total: total,
    changes_total: runs.changesMs.length,
    last_change: lastChange(runs),
  }
}

function episodeAt(runs: StateRuns, run: number): StateEpisode {
  const startMs = runs.startsMs[run] as number
  const endMs = runEnd(runs, run)
  const state = runs.states[run] as number
  return {
    state: state === unknownState ? null : state,
    start_ms: startMs,
    end_ms: endMs,
    duration_seconds: (endMs - startMs) / 1000,
    ongoing: run === runs.states.length - 1,
  }
}

function lastChange({ changesMs, changedFrom, changedTo }: StateRuns): StateChange | null {
  const at_ms = changesMs.at(-1)
  if (at_ms === undefined) return null
  return { at_ms, from: changedFrom.at(-1) as number, to: changedTo.at(-1) as number }
}
