/** Steps the states of pairs by new and replayed readings, and queues their transitions for PostgreSQL. */

import { readingLeavesIdle } from '../core/beyond.ts'
import { bounds } from '../core/bounds.ts'
import { idlePair, type Observation, type PairState, withoutValues } from '../core/pair.ts'
import { withSample } from '../core/samples.ts'
import { type Step, step } from '../core/transition.ts'
import { type CoveredDevice, type CoveredPair, noColumn, type ReadingValues, readingValue } from './covered-pairs.ts'
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
function remainsIdle({ of: { rule }, state }: CoveredPair, value: number): boolean {
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

/** One at a time: it is read where it stands. */
export interface EngineReading extends ReadingValues {
  readonly device: number
  readonly timeUs: number
  readonly receiptMs: number
}

/** Options for a replay of stored readings. */
export interface Replay {
  /** Restricts the observation to these rules. */
  readonly rules?: ReadonlySet<number> | undefined
  /** Older readings are the base of changes and change no state. */
  readonly warmBeforeUs: number
  /** Time of the observations, epoch milliseconds: a condition that held before its rule began opens an alert now. */
  readonly fromMs?: number | undefined
}

/** Readings of so long ago may be read again after a start, with some time in which the end of the evaluation was not written. */
const readAgainMs = 2 * bounds.replaySlackMs

/** `isAlive`: no reading of the device was later before. */
export function takeReading(states: PairStates, device: CoveredDevice, reading: EngineReading, isAlive: boolean): void {
  const { timeUs } = reading
  const isNewest = !(timeUs <= device.seenUs)
  const isReadAgain = timeUs / 1000 >= states.nowMs - readAgainMs
  if (!isNewest && !isAlive && !isReadAgain) return
  for (const pair of device.pairs) {
    const isOfValues = pair.of.rule.column !== noColumn
    if (isOfValues && (isNewest || isReadAgain)) takeValue(states, pair, reading, isNewest)
    if (!isOfValues && isAlive) takeAlive(states, pair, reading)
  }
  if (isNewest) device.seenUs = timeUs
}

function takeValue(states: PairStates, pair: CoveredPair, reading: EngineReading, isNewest: boolean): void {
  const value = readingValue(pair, reading)
  if (remainsIdle(pair, value)) return
  const observation = observationOf(reading, value)
  const before = pair.state ?? idleOf(pair.device)
  if (isNewest) states.observe(pair, observation, before)
  else states.passLate(pair, observation, before)
}

/** A reading changes a rule on silence only while that is pending or fires. */
function takeAlive(states: PairStates, pair: CoveredPair, reading: EngineReading): void {
  if (pair.of.rule.core.condition.kind !== 'silent' || pair.state === undefined) return
  states.observe(pair, observationOf(reading, Number.NaN))
}

function observationOf({ timeUs, receiptMs }: EngineReading, value: number): Observation {
  return { kind: 'reading', timeUs, receiptMs, value }
}

/** A pair without a state starts from its device's readings. */
function idleOf({ seenUs, lastMs }: CoveredDevice): PairState {
  return { ...idlePair, seenUs, atMs: lastMs }
}

/**
 * Replays a stored reading, in the order of time for each device and before any later reading. Restored states include committed
 * transitions.
 */
export function replayReading(
  states: PairStates,
  { pairs }: CoveredDevice,
  reading: EngineReading,
  { rules, warmBeforeUs, fromMs = Number.NaN }: Replay,
): void {
  const idle = { ...idlePair, atMs: fromMs }
  for (const pair of pairs) {
    const { id, column } = pair.of.rule
    if (column === noColumn || (rules !== undefined && !rules.has(id))) continue
    const value = readingValue(pair, reading)
    if (reading.timeUs < warmBeforeUs) warm(pair, reading, value)
    else if (!remainsIdle(pair, value)) states.observe(pair, observationOf(reading, value), pair.state ?? idle)
  }
}

function warm(pair: CoveredPair, { timeUs, receiptMs }: EngineReading, value: number): void {
  const { condition } = pair.of.rule.core
  if (condition.kind !== 'change') return
  const state = pair.state ?? idlePair
  if (Number.isNaN(value) || timeUs <= state.seenUs) return
  const atMs = Math.min(timeUs / 1000, receiptMs)
  const samples = withSample(state.samples, atMs, value, condition.window_seconds * 1000)
  pair.state = { ...state, samples, seenUs: timeUs, atMs }
}
