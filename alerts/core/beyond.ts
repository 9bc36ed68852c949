/**
 * Decides on which side of its threshold an observation is. A rule on a change compares with samples of some time ago.
 */

import { type ThresholdSide, thresholdSide } from '../../analytics/excursions/excursions.ts'
import type { Condition } from './condition.ts'
import type { Observation, PairState } from './pair.ts'
import { referenceOf, type Samples, withSample } from './samples.ts'

/** `unknown`: the observation does not decide. */
type Side = ThresholdSide | 'unknown'

export interface Sight {
  readonly side: Side
  /** Value to compare with the threshold; NaN where unknown. */
  readonly value: number
  readonly samples?: Samples
}

const nothing: Sight = { side: 'unknown', value: Number.NaN }

type Of<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>

/** The sight of an observation that is not late, at this effective time. */
export function sightOf(condition: Condition, state: PairState, observation: Observation, atMs: number): Sight {
  switch (observation.kind) {
    case 'reading':
      return readingSight(condition, state, observation.value, atMs)
    case 'tick':
      return tickSight(observation, atMs)
    case 'hour':
      return hourSight(condition, observation.share)
    case 'unusual':
      return unusualSight(observation.shift)
    case 'days':
      return thresholdSight('below', observation.days, 'days' in condition ? condition.days : undefined, 0)
    case 'site':
      return siteSight(condition as Of<'site_silent'>, observation)
    case 'fact':
      return { side: observation.holds ? 'beyond' : 'back', value: observation.value }
    case 'end':
      return nothing
  }
}

function readingSight(condition: Condition, state: PairState, value: number, atMs: number): Sight {
  switch (condition.kind) {
    case 'silent':
      return { side: 'back', value: Number.NaN }
    case 'above':
    case 'below':
      return thresholdSight(condition.kind, value, condition.value, condition.hysteresis)
    case 'battery':
      return thresholdSight('below', value, condition.value, condition.hysteresis)
    case 'change':
      return changeSight(condition, state.samples, value, atMs)
    default:
      return nothing
  }
}

/**
 * True if a reading leaves a pair idle that has no samples. Each reading asks it for each rule of its device, so it
 * makes no object, unlike `step`, which gives the same answer.
 */
export function readingLeavesIdle(condition: Condition, value: number): boolean {
  switch (condition.kind) {
    case 'above':
    case 'below':
      return thresholdSide(condition.kind, value, condition.value, condition.hysteresis) !== 'beyond'
    case 'battery':
      if (condition.value === undefined) return true
      return thresholdSide('below', value, condition.value, condition.hysteresis) !== 'beyond'
    case 'change':
      return Number.isNaN(value)
    default:
      return true
  }
}

function thresholdSight(
  direction: 'above' | 'below',
  value: number,
  threshold: number | undefined,
  hysteresis: number,
): Sight {
  if (Number.isNaN(value) || threshold === undefined) return nothing
  return { side: thresholdSide(direction, value, threshold, hysteresis), value }
}

function changeSight(condition: Of<'change'>, before: Samples | undefined, value: number, atMs: number): Sight {
  if (Number.isNaN(value)) return nothing
  const windowMs = condition.window_seconds * 1000
  const samples = withSample(before, atMs, value, windowMs)
  const difference = value - referenceOf(before, atMs, windowMs)
  const { side } = condition.absolute
    ? thresholdSight('above', Math.abs(difference), Math.abs(condition.value), condition.hysteresis)
    : thresholdSight(condition.value > 0 ? 'above' : 'below', difference, condition.value, condition.hysteresis)
  return { side, value: difference, samples }
}

/** Before the deadline, only a reading ends a silence. The value is how long it has lasted, in seconds. */
function tickSight({ nowMs, lastMs, dueMs }: Extract<Observation, { kind: 'tick' }>, atMs: number): Sight {
  const isDue = nowMs >= dueMs
  return { side: isDue ? 'beyond' : 'between', value: isDue ? Math.floor((atMs - lastMs) / 1000) : Number.NaN }
}

function hourSight(condition: Condition, share: number): Sight {
  if (Number.isNaN(share)) return nothing
  const isBad =
    condition.kind === 'completeness'
      ? share < condition.share
      : condition.kind === 'suspect' && share > condition.share
  return { side: isBad ? 'beyond' : 'back', value: share }
}

function unusualSight(shift: number): Sight {
  return Number.isNaN(shift) ? nothing : { side: shift === 0 ? 'back' : 'beyond', value: shift }
}

function siteSight(condition: Of<'site_silent'>, observation: Extract<Observation, { kind: 'site' }>): Sight {
  const { silent, devices } = observation
  const share = devices === 0 ? 0 : silent / devices
  return { side: silent >= condition.count && share > condition.share ? 'beyond' : 'back', value: share }
}
