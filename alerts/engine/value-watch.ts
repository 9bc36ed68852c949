/** Evaluates rules by readings: those that come in, and those that are read again after a start. */

import { bounds } from '../core/bounds.ts'
import type { Observation } from '../core/observation.ts'
import { idlePair, type PairState } from '../core/pair.ts'
import { withSample } from '../core/samples.ts'
import { type CoveredDevice, type CoveredPair, type ReadingValues, readingValue } from './covered-pairs.ts'
import { noColumn } from './engine-rule.ts'
import { type PairStates, remainsIdle } from './pair-states.ts'

/** One at a time: it is read where it stands. */
export interface EngineReading extends ReadingValues {
  readonly device: number
  readonly timeUs: number
  readonly receiptMs: number
}

/** How stored readings are read again. */
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
