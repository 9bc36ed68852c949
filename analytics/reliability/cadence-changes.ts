/**
 * Detects changes of a device's interval: it finds stretches with a constant interval by the Viterbi algorithm
 * (Viterbi, IEEE Transactions on Information Theory 13, 1967; Forney, Proceedings of the IEEE 61, 1973).
 *
 * The states are the few intervals that blocks of 20 intervals show. In a state of expected interval E an interval d is
 * k = max(1, round(d/E)) of them, and costs ln k(k + 1) plus 50(d/E − k)², at most 5. The first term encodes the number
 * of lost readings in a universal code of integers (Rissanen, Annals of Statistics 11, 1983). The second one models a
 * normal jitter of 10 % with outliers. A change of state costs 20. So a loss of any length does not look like a change,
 * and neither does a coincidence among 40,000 readings with 80 % lost; eight intervals of five times the length do.
 */

import { upperBound } from '../lower-bound.ts'
import {
  differences,
  estimateInterval,
  gapIntervals,
  regularityMin,
  regularityOf,
  thin,
  usualInterval,
  withoutRetries,
} from './interval-estimate.ts'

const blockIntervals = 20
/** The intervals of the most blocks. Others are noise. */
const statesMax = 8
/** With more changes, stretches do not have a constant interval. */
const stretchesMax = 100
/** Intervals that differ by less are equal. */
const sameShare = 0.1
/** A stretch whose own estimate differs more from its state's interval is dropped. */
const agreeingShare = 0.25
/** Single intervals in a block with a known interval. */
const singleMin = 2
const farMax = 2
const changeCost = 20
const misfitMax = 5

/** The device had this interval from the start of the stretch's first interval on. */
export interface ConstantStretch {
  readonly fromMs: number
  readonly expectedMs: number
}

/**
 * Takes ascending times. The result ascends, the first stretch from −∞. Fewer than two when the interval never changed
 * or never was constant.
 */
export function constantStretches(timesMs: Float64Array): ConstantStretch[] {
  const distinct = thin(timesMs, 0)
  const intervals = differences(distinct)
  const states = intervalStates(distinct, intervals)
  if (states.length < 2) return []
  const runs = runsOf(cheapestStates(intervals, states), intervals.length)
  const found = stretchesOf(distinct, runs, states)
  return found.length <= stretchesMax && explainedShare(distinct, found) >= regularityMin ? found : []
}

/** Blocks are counted from the newest interval, so that a new cadence is found as soon as it fills one. */
function intervalStates(timesMs: Float64Array, intervals: Float64Array): number[] {
  const states: { intervalMs: number; blocks: number }[] = []
  for (let end = intervals.length; end >= blockIntervals; end -= blockIntervals) {
    const block = intervals.subarray(end - blockIntervals, end)
    const known = states.find(({ intervalMs }) => explains(intervalMs, block))
    const intervalMs = known?.intervalMs ?? blockInterval(timesMs.subarray(end - blockIntervals, end + 1))
    if (intervalMs === null) continue
    const same = states.find(state => isNear(intervalMs, state.intervalMs, sameShare))
    if (same === undefined) states.push({ intervalMs, blocks: 1 })
    else same.blocks++
  }
  // Nearly every device has one interval, which needs no refinement here.
  if (states.length < 2) return states.map(({ intervalMs }) => intervalMs)
  return states
    .sort((a, b) => b.blocks - a.blocks)
    .slice(0, statesMax)
    .map(({ intervalMs }) => meanNear(intervals, intervalMs))
}

/** More exact than one block: an error of 2 % grows to 40 % after twenty losses. */
function meanNear(intervals: Float64Array, intervalMs: number): number {
  let sum = 0
  let count = 0
  for (let index = 0; index < intervals.length; index++) {
    if (!isNear(intervals[index] as number, intervalMs, sameShare)) continue
    sum += intervals[index] as number
    count++
  }
  return count === 0 ? intervalMs : sum / count
}

/** Nearly all intervals are multiples of this one, and some equal it: this identifies most blocks without sorting. */
function explains(intervalMs: number, block: Float64Array): boolean {
  let single = 0
  let far = 0
  for (let index = 0; index < block.length; index++) {
    const multiple = (block[index] as number) / intervalMs
    const count = Math.round(multiple)
    if (count === 1) single++
    if (count === 0 || Math.abs(multiple - count) > sameShare) far++
  }
  return single >= singleMin && far <= farMax
}

function blockInterval(timesMs: Float64Array): number | null {
  const intervals = withoutRetries(timesMs)
  const usualMs = usualInterval(intervals)
  return regularityOf(intervals, usualMs) >= regularityMin ? usualMs : null
}

function isNear(intervalMs: number, expectedMs: number, share: number): boolean {
  return Math.abs(intervalMs - expectedMs) <= share * expectedMs
}

/** The state of each interval on the path of least cost. */
function cheapestStates(intervals: Float64Array, states: readonly number[]): Uint8Array {
  const costs = new Float64Array(states.length)
  /** The cheapest state before each interval, and, one bit for each state, the states reached from it by a change. */
  const cheapest = new Uint8Array(intervals.length)
  const changed = new Uint8Array(intervals.length)
  for (let index = 0; index < intervals.length; index++) {
    const best = leastOf(costs)
    const changeTo = (costs[best] as number) + changeCost
    cheapest[index] = best
    for (let state = 0; state < states.length; state++) {
      if ((costs[state] as number) > changeTo) {
        costs[state] = changeTo
        ;(changed[index] as number) |= 1 << state
      }
      ;(costs[state] as number) += intervalCost((intervals[index] as number) / (states[state] as number))
    }
  }
  const path = new Uint8Array(intervals.length)
  let state = leastOf(costs)
  for (let index = intervals.length - 1; index >= 0; index--) {
    path[index] = state
    if (((changed[index] as number) >> state) & 1) state = cheapest[index] as number
  }
  return path
}

function leastOf(costs: Float64Array): number {
  let best = 0
  for (let state = 1; state < costs.length; state++)
    if ((costs[state] as number) < (costs[best] as number)) best = state
  return best
}

function intervalCost(multiple: number): number {
  const count = Math.max(1, Math.round(multiple))
  return Math.log(count * (count + 1)) + Math.min(misfitMax, 50 * (multiple - count) ** 2)
}

interface Run {
  /** The index of its first interval. */
  readonly from: number
  readonly state: number
}

function runsOf(path: Uint8Array, length: number): Run[] {
  const runs: Run[] = []
  for (let index = 0; index < length; index++) {
    if (index === 0 || path[index] !== path[index - 1]) runs.push({ from: index, state: path[index] as number })
  }
  return runs
}

/** A run without a cadence of its own belongs to the one before it, at the beginning to the one after it. */
function stretchesOf(timesMs: Float64Array, runs: readonly Run[], states: readonly number[]): ConstantStretch[] {
  const stretches: ConstantStretch[] = []
  for (const [place, { from, state }] of runs.entries()) {
    const to = runs[place + 1]?.from ?? timesMs.length - 1
    const estimate = estimateInterval(timesMs.subarray(from, to + 1))
    const isCadence =
      estimate?.kind === 'regular' && isNear(estimate.expectedMs, states[state] as number, agreeingShare)
    if (!isCadence) continue
    const { expectedMs } = estimate
    const before = stretches.at(-1)
    if (before === undefined) stretches.push({ fromMs: Number.NEGATIVE_INFINITY, expectedMs })
    else if (isNear(expectedMs, before.expectedMs, sameShare))
      stretches[stretches.length - 1] = { ...before, expectedMs }
    else stretches.push({ fromMs: changeMs(timesMs, from, before.expectedMs, expectedMs), expectedMs })
  }
  return stretches
}

/**
 * The change is at the reading at index `place`, unless the interval before or after it would be a gap only because of
 * the wrong side: the interval during the change has any length up to the longer of both.
 */
function changeMs(timesMs: Float64Array, place: number, beforeMs: number, afterMs: number): number {
  const isGap = (from: number, expectedMs: number) =>
    (timesMs[from + 1] as number) - (timesMs[from] as number) > gapIntervals * expectedMs
  if (isGap(place, afterMs) && !isGap(place, beforeMs)) return timesMs[place + 1] as number
  if (isGap(place - 1, beforeMs) && !isGap(place - 1, afterMs)) return timesMs[place - 1] as number
  return timesMs[place] as number
}

/** The share of intervals near a multiple of their stretch's interval, without retries. */
function explainedShare(timesMs: Float64Array, stretches: readonly ConstantStretch[]): number {
  let near = 0
  let count = 0
  for (const [place, { fromMs, expectedMs }] of stretches.entries()) {
    const untilMs = stretches[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    // The last interval begins before the next stretch does, and ends with its first reading.
    const part = timesMs.subarray(Math.max(0, upperBound(timesMs, fromMs) - 1), upperBound(timesMs, untilMs))
    const intervals = withoutRetries(part)
    if (intervals.length === 0) continue
    near += regularityOf(intervals, expectedMs) * intervals.length
    count += intervals.length
  }
  return count === 0 ? 0 : near / count
}
