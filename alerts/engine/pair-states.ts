/** States of pairs that have one, and what changes of them: it is noted for PostgreSQL. A pair that is idle has none. */

import type { Observation } from '../core/observation.ts'
import { idlePair, type PairState, withoutValues } from '../core/pair.ts'
import { type Step, staysIdle, step } from '../core/transition.ts'
import type { CoveredPairs } from './covered-pairs.ts'
import { isAhead } from './device-times.ts'
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
  readonly #covered: CoveredPairs
  readonly #changed: (pair: number) => void
  /** Of pairs that are not idle, have changed within two hours, or keep samples. */
  readonly #states = new Map<number, PairState>()
  nowMs = Number.NEGATIVE_INFINITY

  /** `changed`: the pair is in another phase. */
  constructor(covered: CoveredPairs, changed: (pair: number) => void) {
    this.#covered = covered
    this.#changed = changed
  }

  of(pair: number): PairState | undefined {
    return this.#states.get(pair)
  }

  has(pair: number): boolean {
    return this.#states.has(pair)
  }

  set(pair: number, state: PairState): void {
    this.#states.set(pair, state)
  }

  delete(pair: number): void {
    this.#states.delete(pair)
  }

  /** That of the last run. */
  restore(pair: number, state: PairState): void {
    this.set(pair, state)
    this.queue.restored(this.#covered.ruleOf(pair).id, this.#covered.table.deviceOf(pair), state)
  }

  observe(pair: number, observation: Observation, before = this.of(pair) ?? idlePair): void {
    const { state, effects } = this.#step(pair, before, observation)
    // It was late.
    if (state === before) return
    if (isKept(state)) this.set(pair, state)
    else this.delete(pair)
    if (effects.length === 0 && state.phase === before.phase) return
    this.queue.note({ ...this.#keyOf(pair), effects, state }, this.nowMs)
    this.#changed(pair)
  }

  /** `idle`: what is known of a pair without a state. */
  observeUnlessIdle(pair: number, observation: Observation, idle = idlePair): void {
    const state = this.of(pair)
    if (state === undefined && this.staysIdle(pair, observation)) return
    this.observe(pair, observation, state ?? idle)
  }

  staysIdle(pair: number, observation: Observation): boolean {
    const { id, core } = this.#covered.ruleOf(pair)
    try {
      return staysIdle(core, observation)
    } catch (error) {
      throw new RuleFault(id, error)
    }
  }

  #step(pair: number, before: PairState, observation: Observation): Step {
    const { id, core } = this.#covered.ruleOf(pair)
    try {
      return step(core, before, observation)
    } catch (error) {
      throw new RuleFault(id, error)
    }
  }

  /**
   * A reading that was late would have changed the pair. After a start it comes in its place among those that are read again, unless
   * it is written up to which reading the pair has seen them.
   */
  passLate(pair: number, observation: Observation, before: PairState): void {
    const inPlace = { ...before, seenUs: Number.NaN }
    const { state, effects } = this.#step(pair, inPlace, observation)
    if (effects.length === 0 && state.phase === before.phase) return
    this.queue.remember({ ...this.#keyOf(pair), effects: [], state: before })
  }

  #keyOf(pair: number) {
    const { id: rule, version: ruleVersion, metric, severity } = this.#covered.ruleOf(pair)
    return { rule, ruleVersion, device: this.#covered.table.deviceOf(pair), metric, severity }
  }

  eraseValues(pair: number): void {
    const state = this.of(pair)
    if (state !== undefined) this.set(pair, withoutValues(state))
  }

  /** Our clock was set by so much, and says this now. */
  clockStepped(deltaMs: number, nowMs: number): void {
    this.nowMs = nowMs
    for (const [pair, state] of this.#states) {
      const isOfSilence = this.#covered.ruleOf(pair).core.condition.kind === 'silent'
      this.set(pair, shifted(state, isOfSilence, deltaMs, nowMs))
    }
  }

  /** What has been idle for two hours needs no state. */
  forget(nowMs: number): void {
    for (const [pair, { phase, flapping, samples, changesMs }] of this.#states) {
      if (phase !== 'idle' || flapping || samples !== undefined) continue
      if ((changesMs.at(-1) ?? Number.NEGATIVE_INFINITY) < nowMs - historyMs) this.delete(pair)
    }
  }
}

/** Others are as good as without a state. */
function isKept({ phase, flapping, samples, changesMs }: PairState): boolean {
  return phase !== 'idle' || flapping || samples !== undefined || changesMs.length > 0
}

/** Durations that are counted by our clock go on as if it had not been set, and times that we gave are none of later. */
function shifted(state: PairState, isOfSilence: boolean, deltaMs: number, nowMs: number): PairState {
  const isOfOther = isAhead(state.seenUs, state.atMs)
  const seenUs = isOfSilence || !isOfOther ? Math.min(state.seenUs, nowMs * 1000) : state.seenUs
  if (!isOfOther && state.atMs <= nowMs) return { ...state, seenUs }
  const byMs = isOfOther ? Math.min(deltaMs, state.seenUs / 1000 - state.atMs) : nowMs - state.atMs
  const changesMs = state.changesMs.map(changeMs => Math.min(changeMs, nowMs))
  return { ...state, seenUs, changesMs, atMs: state.atMs + byMs, sinceMs: state.sinceMs + byMs }
}
