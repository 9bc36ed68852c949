/** At which time an observation counts. */

import type { Observation } from './observation.ts'
import type { PairState } from './pair.ts'
import type { RuleCore } from './rule.ts'

export interface ObservedTime {
  /** By which durations are counted. It never goes back. */
  readonly atMs: number
  /** Since when it is so at the latest: the same, but for a deadline that is noticed later. */
  readonly sinceMs: number
  /** Its place in the order of readings; NaN for other observations. */
  readonly seenUs: number
}

/** Undefined for a late reading: one that is not newer than the newest of its device changes nothing. */
export function observedTime(rule: RuleCore, state: PairState, observation: Observation): ObservedTime | undefined {
  if (observation.kind === 'tick') return deadlineTime(rule, state, observation)
  const atMs = Math.max(rawTimeMs(observation), orLowest(state.atMs))
  if (observation.kind !== 'reading') return { atMs, sinceMs: atMs, seenUs: Number.NaN }
  const seenUs = orderUs(rule, observation)
  return seenUs <= state.seenUs ? undefined : { atMs, sinceMs: atMs, seenUs }
}

function rawTimeMs(observation: Exclude<Observation, { kind: 'tick' }>): number {
  switch (observation.kind) {
    case 'reading':
      return receivedMs(observation)
    case 'hour':
    case 'unusual':
      return observation.hourMs
    case 'days':
      return observation.atMs
    default:
      return observation.nowMs
  }
}

/** The time of receipt if the clock is ahead. */
function receivedMs({ timeUs, receiptMs }: { timeUs: number; receiptMs: number }): number {
  return Math.min(timeUs / 1000, receiptMs)
}

/**
 * Values are taken in the order of the readings' own times. That a device is alive is shown by any reading after the last: of a
 * clock that was ahead for a while, those that are right again are older than one that was seen.
 */
function orderUs({ condition }: RuleCore, reading: { timeUs: number; receiptMs: number }): number {
  return condition.kind === 'silent' ? receivedMs(reading) * 1000 : reading.timeUs
}

/** When it was due, however late it is noticed: the same with and without a delay. Before that, no time has passed. */
function deadlineTime(
  { for_seconds }: RuleCore,
  state: PairState,
  { nowMs, dueMs }: Extract<Observation, { kind: 'tick' }>,
): ObservedTime {
  const firesMs = dueMs + for_seconds * 1000
  const lowestMs = Number.isNaN(state.atMs) ? Math.min(nowMs, dueMs) : state.atMs
  const noticedMs = nowMs >= firesMs ? firesMs : nowMs >= dueMs ? dueMs : lowestMs
  return { atMs: Math.max(noticedMs, lowestMs), sinceMs: Math.max(dueMs, lowestMs), seenUs: Number.NaN }
}

function orLowest(timeMs: number): number {
  return Number.isNaN(timeMs) ? Number.NEGATIVE_INFINITY : timeMs
}
