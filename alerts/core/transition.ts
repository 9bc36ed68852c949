/**
 * The one way by which a pair of rule and device changes: a function of the rule, the state and an observation. The service,
 * the preview and the tests run it.
 */

import { type Sight, sightOf } from './beyond.ts'
import { type EndReason, idlePair, type Observation, type PairState } from './pair.ts'
import type { RuleCore } from './rule.ts'

interface ObservedTime {
  /** Durations are counted by this time. It never goes back. */
  readonly atMs: number
  /** Latest begin of the state. It differs from `atMs` for a deadline that is noticed later. */
  readonly sinceMs: number
  /** Its place in the order of readings; NaN for other observations. */
  readonly seenUs: number
}

/** Undefined for a late reading: one that is not newer than the newest of its device changes nothing. */
function observedTime(rule: RuleCore, state: PairState, observation: Observation): ObservedTime | undefined {
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

/**
 * Returns the time at which the deadline was due, however late it is noticed, with and without a delay. Before the
 * deadline, no time has passed.
 */
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

/** Times in epoch milliseconds. */
export type Effect =
  | { readonly kind: 'opened'; readonly atMs: number }
  /** Pending, and back before it fired: of such an alert nothing is kept. */
  | { readonly kind: 'dropped'; readonly atMs: number }
  | { readonly kind: 'fired'; readonly atMs: number; readonly value: number }
  | { readonly kind: 'resolved'; readonly atMs: number; readonly value: number; readonly reason: 'cleared' | EndReason }
  | { readonly kind: 'flapping'; readonly atMs: number }
  | { readonly kind: 'settled'; readonly atMs: number }

export interface Step {
  readonly state: PairState
  readonly effects: readonly Effect[]
}

const none: readonly Effect[] = []
const daySeconds = 86_400

/** It has no timers: missing readings change nothing but a rule on silence, which gets a tick at its deadlines. */
export function step(rule: RuleCore, before: PairState, observation: Observation): Step {
  if (observation.kind === 'end') return ended(before, observation.nowMs, observation.reason)
  const time = observedTime(rule, before, observation)
  if (time === undefined) return { state: before, effects: none }
  const settled = settle(before, observation.kind === 'tick' ? observation.nowMs : time.atMs)
  const sight = sightOf(rule.condition, settled.state, observation, time.atMs)
  const next = advance(rule, observed(settled.state, time, sight), time, sight)
  return settled.effects === none ? next : { state: next.state, effects: [...settled.effects, ...next.effects] }
}

function observed(state: PairState, { atMs, seenUs }: ObservedTime, { value, samples }: Sight): PairState {
  return {
    ...state,
    atMs,
    seenUs: Number.isNaN(seenUs) ? state.seenUs : seenUs,
    value: Number.isNaN(value) ? state.value : value,
    ...(samples === undefined ? {} : { samples }),
  }
}

function advance(rule: RuleCore, state: PairState, time: ObservedTime, { side }: Sight): Step {
  if (side === 'unknown') return { state, effects: none }
  switch (state.phase) {
    case 'idle':
      return side === 'beyond' ? begun(rule, state, time) : { state, effects: none }
    case 'pending':
      return side === 'beyond' ? firedWhenLong(rule, state, time, none) : dropped(state, time)
    case 'firing':
      return side === 'back' ? clearing(rule, state, time) : { state, effects: none }
    case 'clearing':
      if (side === 'back') return resolvedWhenLong(rule, state, time)
      return { state: { ...state, phase: 'firing', sinceMs: Number.NaN }, effects: none }
  }
}

/**
 * A pair that flaps has an open alert already. Readings of a clock that is ahead may all count at one receipt, so the
 * alerts differ.
 */
function begun(rule: RuleCore, state: PairState, observedAt: ObservedTime): Step {
  const sinceMs = Math.max(observedAt.sinceMs, (state.changesMs.at(-1) ?? Number.NEGATIVE_INFINITY) + 1)
  const time = { ...observedAt, atMs: Math.max(observedAt.atMs, sinceMs) }
  const pending: PairState = { ...state, phase: 'pending', sinceMs, atMs: time.atMs }
  if (state.flapping) return firedWhenLong(rule, pending, time, none)
  return firedWhenLong(rule, { ...pending, openedMs: sinceMs }, time, [{ kind: 'opened', atMs: sinceMs }])
}

function firedWhenLong(
  { for_seconds }: RuleCore,
  state: PairState,
  { atMs }: ObservedTime,
  effects: Step['effects'],
): Step {
  if (atMs - state.sinceMs < for_seconds * 1000) return { state, effects }
  const fired: PairState = { ...state, phase: 'firing', sinceMs: Number.NaN }
  if (state.flapping) return changed(fired, atMs, effects)
  return changed({ ...fired, firedMs: atMs }, atMs, [...effects, { kind: 'fired', atMs, value: state.value }])
}

function dropped(state: PairState, { atMs }: ObservedTime): Step {
  const idle: PairState = { ...state, phase: 'idle', sinceMs: Number.NaN }
  if (state.flapping) return { state: idle, effects: none }
  return { state: { ...idle, openedMs: Number.NaN }, effects: [{ kind: 'dropped', atMs }] }
}

function clearing(rule: RuleCore, state: PairState, time: ObservedTime): Step {
  return resolvedWhenLong(rule, { ...state, phase: 'clearing', sinceMs: time.atMs }, time)
}

function resolvedWhenLong(
  { condition, keep_firing_seconds }: RuleCore,
  state: PairState,
  { atMs }: ObservedTime,
): Step {
  // A battery that rests recovers a little.
  const keepSeconds = condition.kind === 'battery' ? Math.max(daySeconds, keep_firing_seconds) : keep_firing_seconds
  if (atMs - state.sinceMs < keepSeconds * 1000) return { state, effects: none }
  const changesMs = withChange(state.changesMs, atMs)
  if (state.flapping || isFlapping(changesMs))
    return changed({ ...state, phase: 'idle', sinceMs: Number.NaN }, atMs, none)
  return { state: { ...closed(state), changesMs }, effects: [resolved(state, atMs, 'cleared')] }
}

/** Adds one more change between firing and not. The pair starts flapping if there are too many. */
function changed(state: PairState, atMs: number, effects: Step['effects']): Step {
  const changesMs = withChange(state.changesMs, atMs)
  if (state.flapping || !isFlapping(changesMs)) return { state: { ...state, changesMs }, effects }
  return { state: { ...state, changesMs, flapping: true }, effects: [...effects, { kind: 'flapping', atMs }] }
}

/** Ends flapping, by the state before the present observation. */
function settle(state: PairState, atMs: number): Step {
  if (!state.flapping || state.phase === 'pending' || atMs < stillFromMs(state.changesMs))
    return { state, effects: none }
  const settled: Effect = { kind: 'settled', atMs }
  const still: PairState = { ...state, flapping: false, changesMs: [] }
  if (state.phase !== 'idle') return { state: still, effects: [settled] }
  return { state: closed(still), effects: [settled, resolved(state, atMs, 'cleared')] }
}

/** Our clock may have been set back since it fired. */
function resolved({ firedMs, value }: PairState, atMs: number, reason: 'cleared' | EndReason): Effect {
  return { kind: 'resolved', atMs: Math.max(atMs, firedMs), value, reason }
}

function closed(state: PairState): PairState {
  return { ...state, phase: 'idle', sinceMs: Number.NaN, openedMs: Number.NaN, firedMs: Number.NaN, flapping: false }
}

function ended(state: PairState, nowMs: number, reason: EndReason): Step {
  const atMs = Number.isNaN(state.atMs) ? nowMs : Math.max(state.atMs, nowMs)
  if (!Number.isNaN(state.firedMs)) {
    return { state: idlePair, effects: [resolved(state, atMs, reason)] }
  }
  return { state: idlePair, effects: state.phase === 'pending' ? [{ kind: 'dropped', atMs }] : none }
}

/** One more than an hour may have. */
const changesMax = 7
const hourMs = 3_600_000
const stillMs = 1_800_000

function withChange(changesMs: readonly number[], atMs: number): readonly number[] {
  return [...changesMs, atMs].slice(-changesMax)
}

function isFlapping(changesMs: readonly number[]): boolean {
  return changesMs.length === changesMax && (changesMs.at(-1) as number) - (changesMs[0] as number) <= hourMs
}

/** Returns the time from which a pair without further changes has kept still. */
export function stillFromMs(changesMs: readonly number[]): number {
  return (changesMs.at(-1) ?? Number.NEGATIVE_INFINITY) + stillMs
}
