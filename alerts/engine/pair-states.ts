/** Steps the states of pairs, and queues their transitions for PostgreSQL. */

import { readingLeavesIdle } from '../core/beyond.ts'
import type { Observation } from '../core/observation.ts'
import { idlePair, type PairState, withoutValues } from '../core/pair.ts'
import { type Step, step } from '../core/transition.ts'
import type { CoveredPair } from './covered-pairs.ts'
import { TransitionQueue } from './transition-queue.ts'

const historyMs = 7_200_000

/** The evaluation of one rule has thrown. It ends the thread, and the host learns which rule to disable. */
class RuleFault extends Error {
  readonly rule: number

  constructor(rule: number, cause: unknown) {
    super(`rule ${rule} cannot be evaluated`, { cause })
    this.rule = rule
  }
}

/** The rule that an error of the thread names: a message port drops the class of an error, and keeps its fields. */
export function ruleOfFault(error: Error): number | undefined {
  const { rule } = error as { rule?: unknown }
  return typeof rule === 'number' ? rule : undefined
}

export class PairStates {
  readonly queue = new TransitionQueue()
  readonly #changed: (pair: CoveredPair) => void
  nowMs = Number.NEGATIVE_INFINITY

  /** `changed`: the pair is in another phase. */
  constructor(changed: (pair: CoveredPair) => void) {
    this.#changed = changed
  }

  /** The state of the last run. */
  restore(pair: CoveredPair, state: PairState): void {
    pair.state = state
    this.queue.restored(pair.of.rule.id, pair.device.number, state)
  }

  observe(pair: CoveredPair, observation: Observation, before = pair.state ?? idlePair): void {
    const { state, effects } = stepOf(pair, before, observation)
    // It was late.
    if (state === before) return
    pair.state = isKept(state) ? state : undefined
    if (effects.length === 0 && state.phase === before.phase) return
    this.queue.note({ ...keyOf(pair), effects, state }, this.nowMs)
    this.#changed(pair)
  }

  /**
   * A reading that was late would have changed the pair. After a start it comes in its place among those that are read again, unless
   * it is written up to which reading the pair has seen them.
   */
  passLate(pair: CoveredPair, observation: Observation, before: PairState): void {
    const { state, effects } = stepOf(pair, { ...before, seenUs: Number.NaN }, observation)
    if (effects.length === 0 && state.phase === before.phase) return
    this.queue.remember({ ...keyOf(pair), effects: [], state: before })
  }
}

/** True where the pair is idle and a reading with this value leaves it idle. */
export function remainsIdle({ of: { rule }, state }: CoveredPair, value: number): boolean {
  if (state !== undefined) return false
  try {
    return readingLeavesIdle(rule.core.condition, value)
  } catch (error) {
    throw new RuleFault(rule.id, error)
  }
}

function stepOf({ of: { rule } }: CoveredPair, before: PairState, observation: Observation): Step {
  try {
    return step(rule.core, before, observation)
  } catch (error) {
    throw new RuleFault(rule.id, error)
  }
}

function keyOf({ of, device }: CoveredPair) {
  const { id: rule, version: ruleVersion, metric, severity } = of.rule
  return { rule, ruleVersion, device: device.number, metric, severity }
}

export function eraseValues(pair: CoveredPair): void {
  if (pair.state !== undefined) pair.state = withoutValues(pair.state)
}

/** A pair that has been idle for two hours needs no state. */
export function forgetIdle(pair: CoveredPair, nowMs: number): void {
  if (pair.state === undefined) return
  const { phase, flapping, samples, changesMs } = pair.state
  if (phase !== 'idle' || flapping || samples !== undefined) return
  if ((changesMs.at(-1) ?? Number.NEGATIVE_INFINITY) < nowMs - historyMs) pair.state = undefined
}

/** Others are as good as without a state. */
function isKept({ phase, flapping, samples, changesMs }: PairState): boolean {
  return phase !== 'idle' || flapping || samples !== undefined || changesMs.length > 0
}

/** Our clock was set by so much, and says this now. Durations go on as if it had not been set, and no time that we gave is later than now. */
export function shiftTimes(pair: CoveredPair, deltaMs: number, nowMs: number): void {
  const { state } = pair
  if (state === undefined) return
  const isOfSilence = pair.of.rule.core.condition.kind === 'silent'
  const isOfOther = isAhead(state.seenUs, state.atMs)
  const seenUs = isOfSilence || !isOfOther ? Math.min(state.seenUs, nowMs * 1000) : state.seenUs
  pair.state = { ...state, seenUs }
  if (!isOfOther && state.atMs <= nowMs) return
  const byMs = isOfOther ? Math.min(deltaMs, state.seenUs / 1000 - state.atMs) : nowMs - state.atMs
  const changesMs = state.changesMs.map(changeMs => Math.min(changeMs, nowMs))
  pair.state = { ...pair.state, changesMs, atMs: state.atMs + byMs, sinceMs: state.sinceMs + byMs }
}

/** True where a device's clock is ahead of the server's. A stamped time equals the time of receipt. */
export function isAhead(timeUs: number, receiptMs: number): boolean {
  return timeUs / 1000 - receiptMs > 1
}
