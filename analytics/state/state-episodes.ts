/** The episodes of a state: their beginnings and ends, and the next state. */

import { runEnd } from './state-durations.ts'
import { type StateRuns, unknownState } from './state-runs.ts'

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
