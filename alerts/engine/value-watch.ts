/** Evaluates rules by readings: those that come in, and those that are read again after a start. */

import { bounds } from '../core/bounds.ts'
import type { Observation } from '../core/observation.ts'
import { idlePair, type PairState } from '../core/pair.ts'
import { withSample } from '../core/samples.ts'
import type { CoveredPairs, ReadingValues } from './covered-pairs.ts'
import type { DeviceTimes } from './device-times.ts'
import { type EngineRule, noColumn } from './engine-rule.ts'
import type { PairStates } from './pair-states.ts'

/** One at a time: it is read where it stands. */
export interface EngineReading extends ReadingValues {
  readonly device: number
  readonly timeUs: number
  readonly receiptMs: number
}

/** How stored readings are read again. */
export interface Replay {
  /** Of these rules alone. */
  readonly rules?: ReadonlySet<number> | undefined
  /** Older readings are what a change is measured against, and change no state. */
  readonly warmBeforeUs: number
  /** They count as of then: what was beyond before a rule began opens an alert of now. Epoch milliseconds. */
  readonly fromMs?: number | undefined
}

/** Readings of so long ago may be read again after a start, with some time in which the end of the evaluation was not written. */
const readAgainMs = 2 * bounds.replaySlackMs

export class ValueWatch {
  readonly #covered: CoveredPairs
  readonly #times: DeviceTimes
  readonly #states: PairStates

  constructor(covered: CoveredPairs, times: DeviceTimes, states: PairStates) {
    this.#covered = covered
    this.#times = times
    this.#states = states
  }

  /** `isAlive`: the device was not heard later before. */
  take(slot: number, reading: EngineReading, isAlive: boolean): void {
    const { seenUs } = this.#times
    const { table } = this.#covered
    const { timeUs } = reading
    const isNewest = !(timeUs <= (seenUs[slot] as number))
    const isReadAgain = timeUs / 1000 >= this.#states.nowMs - readAgainMs
    if (!isNewest && !isAlive && !isReadAgain) return
    for (let pair = table.firstOf(slot); pair >= 0; pair = table.nextOf(pair)) {
      const rule = this.#covered.ruleOf(pair)
      if (rule.column === noColumn) {
        if (isAlive) this.#takeAlive(pair, rule, slot, reading)
      } else if (isNewest) this.#take(pair, slot, this.#observationOf(pair, rule, reading))
      else if (isReadAgain) this.#passLate(pair, slot, this.#observationOf(pair, rule, reading))
    }
    if (isNewest) seenUs[slot] = timeUs
  }

  #observationOf(pair: number, { column }: EngineRule, reading: EngineReading): Observation {
    const { timeUs, receiptMs } = reading
    return { kind: 'reading', timeUs, receiptMs, value: this.#covered.valueOf(pair, column, reading) }
  }

  #takeAlive(pair: number, rule: EngineRule, slot: number, { timeUs, receiptMs }: EngineReading): void {
    if (rule.core.condition.kind !== 'silent' || !this.#states.has(pair)) return
    this.#take(pair, slot, { kind: 'reading', timeUs, receiptMs, value: Number.NaN })
  }

  #take(pair: number, slot: number, observation: Observation): void {
    const state = this.#states.of(pair)
    if (state === undefined && this.#states.staysIdle(pair, observation)) return
    this.#states.observe(pair, observation, state ?? this.#idleOf(slot))
  }

  #passLate(pair: number, slot: number, observation: Observation): void {
    const state = this.#states.of(pair)
    if (state === undefined && this.#states.staysIdle(pair, observation)) return
    this.#states.passLate(pair, observation, state ?? this.#idleOf(slot))
  }

  /** A pair without a state has seen what its device has. */
  #idleOf(slot: number): PairState {
    return { ...idlePair, seenUs: this.#times.seenUs[slot] as number, atMs: this.#times.lastMs[slot] as number }
  }

  /**
   * A stored reading, each device's in the order of time, before any reading of later: what is committed already is known by the
   * states that were restored.
   */
  replay(slot: number, reading: EngineReading, { rules, warmBeforeUs, fromMs = Number.NaN }: Replay): void {
    const { table } = this.#covered
    const idle = { ...idlePair, atMs: fromMs }
    for (let pair = table.firstOf(slot); pair >= 0; pair = table.nextOf(pair)) {
      const rule = this.#covered.ruleOf(pair)
      if (rule.column === noColumn || (rules !== undefined && !rules.has(rule.id))) continue
      if (reading.timeUs < warmBeforeUs) this.#warm(pair, rule, reading)
      else this.#states.observeUnlessIdle(pair, this.#observationOf(pair, rule, reading), idle)
    }
  }

  #warm(pair: number, { core: { condition }, column }: EngineRule, reading: EngineReading): void {
    if (condition.kind !== 'change') return
    const { timeUs, receiptMs } = reading
    const value = this.#covered.valueOf(pair, column, reading)
    const state = this.#states.of(pair) ?? idlePair
    if (Number.isNaN(value) || timeUs <= state.seenUs) return
    const atMs = Math.min(timeUs / 1000, receiptMs)
    const samples = withSample(state.samples, atMs, value, condition.window_seconds * 1000)
    this.#states.set(pair, { ...state, samples, seenUs: timeUs, atMs })
  }
}
