/**
 * Evaluates rules on devices: it is told readings, deadlines that have passed and other observations, and says which pairs of
 * both have changed. It reads no clock and waits for nothing. A pair that does not fire costs a few numbers, and only others a
 * state of their own.
 */

import type { EndReason, Observation } from '../core/observation.ts'
import { idlePair, type PairState } from '../core/pair.ts'
import { noDevice } from '../core/rule.ts'
import { withSample } from '../core/samples.ts'
import { staysIdle, step } from '../core/transition.ts'
import type { Transition } from '../store/apply.ts'
import { type DeviceFacts, DeviceTimes } from './device-times.ts'
import { type EngineRule, furtherColumn, noColumn } from './engine-rule.ts'
import { PairTable } from './pair-table.ts'
import { nextLookMs } from './silence-deadlines.ts'
import { SilenceWatch } from './silence-watch.ts'
import { TransitionQueue } from './transition-queue.ts'

/** One at a time: it is read where it stands. */
export interface EngineReading {
  readonly device: number
  readonly timeUs: number
  readonly receiptMs: number
  /** Of a built-in metric by its column; NaN where missing. */
  value(column: number): number
  /** Of the device's own series; NaN where missing. */
  further(series: number): number
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

const historyMs = 7_200_000
/** Deadlines that are looked at in one go; each takes some microseconds. */
const dueMax = 20_000

export class Evaluator {
  readonly #rules: (EngineRule | undefined)[] = []
  readonly #places = new Map<number, number>()
  readonly #pairs = new PairTable()
  readonly #times = new DeviceTimes()
  readonly #silence = new SilenceWatch(this.#pairs, this.#times, pair => this.#ruleOf(pair))
  /** Of pairs that are not idle, have changed within two hours, or keep samples. */
  readonly #states = new Map<number, PairState>()
  /** Of pairs with a further metric. */
  readonly #series = new Map<number, number>()
  readonly queue = new TransitionQueue()
  #nowMs = Number.NEGATIVE_INFINITY

  get pairCount(): number {
    return this.#pairs.count
  }

  /** New, or in place of the one of this id. What fires goes on firing until the next observation. */
  setRule(rule: EngineRule): void {
    const before = this.#places.get(rule.id)
    const place = before ?? this.#freePlace()
    this.#rules[place] = rule
    this.#places.set(rule.id, place)
    if (before !== undefined) this.#eachPairOf(place, pair => this.#schedule(pair))
  }

  removeRule(id: number, reason: EndReason, nowMs: number): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#eachPairOf(place, pair => this.#removePair(pair, reason, nowMs))
    this.#rules[place] = undefined
    this.#places.delete(id)
    this.#silence.ruleRemoved(place)
  }

  #freePlace(): number {
    const free = this.#rules.indexOf(undefined)
    return free === -1 ? this.#rules.length : free
  }

  #eachPairOf(place: number, call: (pair: number) => void): void {
    for (let pair = 0; pair < this.#pairs.end; pair++) if (this.#pairs.ruleOf(pair) === place) call(pair)
  }

  /** Those that it covers already stay as they are. A series is the device's own of the rule's metric. */
  cover(id: number, devices: Int32Array, series?: Int32Array): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    devices.forEach((device, index) => {
      if (this.#pairs.find(place, device) < 0) this.#addPair(place, device)
      if (series !== undefined) this.#series.set(this.#pairs.find(place, device), series[index] as number)
    })
  }

  #addPair(place: number, device: number): number {
    const isNewDevice = this.#pairs.slotOf(device) < 0
    const pair = this.#pairs.add(place, device)
    if (isNewDevice) this.#times.clear(this.#pairs.slotOf(device))
    this.#silence.added(pair)
    return pair
  }

  uncover(id: number, devices: Int32Array, reason: EndReason, nowMs: number): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    for (const device of devices) {
      const pair = this.#pairs.find(place, device)
      if (pair >= 0) this.#removePair(pair, reason, nowMs)
    }
  }

  #removePair(pair: number, reason: EndReason, nowMs: number): void {
    if (this.#states.has(pair)) this.#observe(pair, { kind: 'end', nowMs, reason })
    this.#states.delete(pair)
    this.#series.delete(pair)
    this.#silence.removed(pair)
    this.#pairs.remove(pair)
  }

  /** Of covered devices; of others nothing is kept. */
  setDevice(facts: DeviceFacts): void {
    const slot = this.#pairs.slotOf(facts.number)
    if (slot < 0) return
    const isFirst = Number.isNaN(this.#times.lastMs[slot] as number)
    this.#times.set(slot, facts)
    const lastMs = this.#times.lastMs[slot] as number
    const reading: Observation = { kind: 'reading', timeUs: lastMs * 1000, receiptMs: lastMs, value: Number.NaN }
    for (let pair = this.#pairs.firstOf(slot); pair >= 0; pair = this.#pairs.nextOf(pair)) {
      // It may have been heard while nothing was told here.
      const isOfSilence = this.#ruleOf(pair).core.condition.kind === 'silent'
      if (isOfSilence && this.#states.has(pair) && !Number.isNaN(lastMs)) this.#observe(pair, reading)
      if (isFirst) this.#silence.learned(pair)
      this.#schedule(pair)
    }
  }

  /** The state of the last run. What is not covered any more ends. */
  restore(id: number, device: number, state: PairState): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    const found = this.#pairs.find(place, device)
    const pair = found < 0 ? this.#addPair(place, device) : found
    this.#states.set(pair, state)
    this.queue.restored(id, device, state)
    if (found < 0) this.#removePair(pair, 'not_selected', this.#nowMs)
    else this.#schedule(pair)
  }

  take(reading: EngineReading): void {
    const slot = this.#pairs.slotOf(reading.device)
    if (slot < 0) return
    const { seenUs, lastMs } = this.#times
    const { timeUs, receiptMs } = reading
    const heardMs = Math.min(timeUs / 1000, receiptMs)
    const isNewest = !(timeUs <= (seenUs[slot] as number))
    const isAlive = !(heardMs <= (lastMs[slot] as number))
    if (!isNewest && !isAlive) return
    for (let pair = this.#pairs.firstOf(slot); pair >= 0; pair = this.#pairs.nextOf(pair)) {
      const rule = this.#ruleOf(pair)
      if (rule.column === noColumn) {
        if (isAlive) this.#takeAlive(pair, rule, slot, reading)
      } else if (isNewest) this.#takeValue(pair, rule, slot, reading)
    }
    if (isNewest) seenUs[slot] = timeUs
    if (!isAlive) return
    const isFirst = Number.isNaN(lastMs[slot] as number)
    lastMs[slot] = heardMs
    this.#silence.heard(slot, isFirst)
  }

  #takeValue(pair: number, rule: EngineRule, slot: number, reading: EngineReading): void {
    const { timeUs, receiptMs } = reading
    const value = this.#valueOf(pair, rule.column, reading)
    this.#takeObserved(pair, rule, slot, { kind: 'reading', timeUs, receiptMs, value })
  }

  #valueOf(pair: number, column: number, reading: EngineReading): number {
    return column === furtherColumn ? reading.further(this.#series.get(pair) ?? -1) : reading.value(column)
  }

  #takeAlive(pair: number, rule: EngineRule, slot: number, { timeUs, receiptMs }: EngineReading): void {
    if (rule.core.condition.kind !== 'silent' || !this.#states.has(pair)) return
    this.#takeObserved(pair, rule, slot, { kind: 'reading', timeUs, receiptMs, value: Number.NaN })
  }

  #takeObserved(pair: number, { core }: EngineRule, slot: number, observation: Observation): void {
    const state = this.#states.get(pair)
    if (state === undefined && staysIdle(core, observation)) return
    this.#observe(pair, observation, state ?? this.#idleOf(slot))
  }

  /** A pair without a state has seen what its device has. */
  #idleOf(slot: number): PairState {
    return { ...idlePair, seenUs: this.#times.seenUs[slot] as number, atMs: this.#times.lastMs[slot] as number }
  }

  /**
   * A stored reading, each device's in the order of time, before any reading of later: what is committed already is known by the
   * states that were restored.
   */
  replay(reading: EngineReading, { rules, warmBeforeUs, fromMs = Number.NaN }: Replay): void {
    const slot = this.#pairs.slotOf(reading.device)
    if (slot < 0) return
    const idle = { ...idlePair, atMs: fromMs }
    for (let pair = this.#pairs.firstOf(slot); pair >= 0; pair = this.#pairs.nextOf(pair)) {
      const rule = this.#ruleOf(pair)
      if (rule.column === noColumn || (rules !== undefined && !rules.has(rule.id))) continue
      if (reading.timeUs < warmBeforeUs) this.#warm(pair, rule, reading)
      else this.#replayValue(pair, rule, reading, idle)
    }
  }

  #replayValue(pair: number, { column }: EngineRule, reading: EngineReading, idle: PairState): void {
    const { timeUs, receiptMs } = reading
    const value = this.#valueOf(pair, column, reading)
    this.#observeUnlessIdle(pair, { kind: 'reading', timeUs, receiptMs, value }, idle)
  }

  #warm(pair: number, { core: { condition }, column }: EngineRule, reading: EngineReading): void {
    if (condition.kind !== 'change') return
    const { timeUs, receiptMs } = reading
    const value = this.#valueOf(pair, column, reading)
    const state = this.#states.get(pair) ?? idlePair
    if (Number.isNaN(value) || timeUs <= state.seenUs) return
    const atMs = Math.min(timeUs / 1000, receiptMs)
    const samples = withSample(state.samples, atMs, value, condition.window_seconds * 1000)
    this.#states.set(pair, { ...state, samples, seenUs: timeUs, atMs })
  }

  /** What is no reading. */
  observe(id: number, device: number, observation: Observation): void {
    const pair = this.#pairOf(id, device)
    if (pair < 0) return
    this.#observeUnlessIdle(pair, observation)
  }

  #observeUnlessIdle(pair: number, observation: Observation, idle = idlePair): void {
    const state = this.#states.get(pair)
    if (state === undefined && staysIdle(this.#ruleOf(pair).core, observation)) return
    this.#observe(pair, observation, state ?? idle)
  }

  /** Whether we were away ourselves; see SilenceWatch. */
  outage(isOut: boolean, nowMs: number): void {
    this.#silence.outage(isOut, nowMs)
    if (this.#nowMs === Number.NEGATIVE_INFINITY) this.#nowMs = nowMs
  }

  /** Our clock was set by so much, and says this now. */
  clockStepped(deltaMs: number, nowMs: number): void {
    this.#silence.clockStepped(nowMs)
    this.#nowMs = nowMs
    if (deltaMs < 0) this.#times.clamp(nowMs)
    for (const [pair, state] of this.#states) this.#states.set(pair, this.#shifted(pair, state, deltaMs, nowMs))
    for (let pair = 0; pair < this.#pairs.end; pair++) if (this.#pairs.ruleOf(pair) >= 0) this.#schedule(pair)
  }

  /** Durations that are counted by our clock go on as if it had not been set. */
  #shifted(pair: number, state: PairState, deltaMs: number, nowMs: number): PairState {
    const isOfSilence = this.#ruleOf(pair).core.condition.kind === 'silent'
    const seenUs = isOfSilence ? Math.min(state.seenUs, nowMs * 1000) : state.seenUs
    // Of a clock that is ahead of ours, or of one that goes by ours.
    const aheadMs = state.seenUs / 1000 - state.atMs
    const isByUs = aheadMs > 1 || state.atMs > nowMs
    if (!isByUs) return { ...state, seenUs }
    const byMs = aheadMs > 1 ? Math.min(deltaMs, aheadMs) : nowMs - state.atMs
    const changesMs = state.changesMs.map(changeMs => Math.min(changeMs, nowMs))
    return { ...state, seenUs, changesMs, atMs: state.atMs + byMs, sinceMs: state.sinceMs + byMs }
  }

  /** All that was received up to then was told. True when there is more to do than one go should. */
  advance(nowMs: number): boolean {
    this.#nowMs = nowMs
    for (let count = 0; count < dueMax && this.#silence.isDue(nowMs); count++) {
      const pair = this.#silence.take(nowMs)
      if (pair >= 0) this.#lookAt(pair, nowMs)
    }
    const isBehind = this.#silence.isDue(nowMs)
    if (!isBehind) this.#lookAtSites(nowMs)
    return isBehind
  }

  #lookAt(pair: number, nowMs: number): void {
    const { core } = this.#ruleOf(pair)
    const slot = this.#pairs.slotOf(this.#pairs.deviceOf(pair))
    const dueMs = this.#silence.dueMs(pair)
    const lastMs = this.#times.lastMs[slot] as number
    const state = this.#states.get(pair)
    const isDue = nextLookMs(core, state, dueMs) <= nowMs || state?.phase === 'pending'
    if (isDue) this.#observe(pair, { kind: 'tick', nowMs, lastMs, dueMs }, state ?? this.#idleOfSilence(slot))
    const nextMs = nextLookMs(core, this.#states.get(pair), dueMs)
    // A pair that flaps does not settle while it is pending.
    this.#silence.lookAgain(pair, nextMs <= nowMs ? nowMs + 1000 : nextMs)
  }

  #idleOfSilence(slot: number): PairState {
    const lastMs = this.#times.lastMs[slot] as number
    return { ...idlePair, seenUs: lastMs * 1000, atMs: lastMs }
  }

  #lookAtSites(nowMs: number): void {
    for (const [place, rule] of this.#rules.entries()) {
      if (rule?.core.condition.kind !== 'site_silent') continue
      const pair = this.#pairs.find(place, noDevice)
      const observation = pair < 0 ? undefined : this.#silence.siteOf(pair, nowMs)
      if (observation !== undefined) this.#observeUnlessIdle(pair, observation)
    }
  }

  #observe(pair: number, observation: Observation, before = this.#states.get(pair) ?? idlePair): void {
    const rule = this.#ruleOf(pair)
    const { state, effects } = step(rule.core, before, observation)
    if (isKept(state)) this.#states.set(pair, state)
    else this.#states.delete(pair)
    if (effects.length === 0 && state.phase === before.phase) return
    const { id, version, metric, severity } = rule
    const device = this.#pairs.deviceOf(pair)
    this.queue.note({ rule: id, ruleVersion: version, device, metric, severity, effects, state }, this.#nowMs)
    this.#schedule(pair)
  }

  #schedule(pair: number): void {
    this.#silence.schedule(pair, this.#states.get(pair))
  }

  /** What has been idle for two hours needs no state. */
  forget(nowMs: number): void {
    for (const [pair, { phase, flapping, samples, changesMs }] of this.#states) {
      if (phase !== 'idle' || flapping || samples !== undefined) continue
      if ((changesMs.at(-1) ?? Number.NEGATIVE_INFINITY) < nowMs - historyMs) this.#states.delete(pair)
    }
  }

  takeTransitions(countMax: number, all = false): Transition[] {
    return this.queue.take(countMax, this.#nowMs, all)
  }

  /** Whether all that is to be written has been taken. */
  isDrained(): boolean {
    return !this.queue.isDue(this.#nowMs)
  }

  /** -1 where the rule does not cover the device. */
  #pairOf(id: number, device: number): number {
    const place = this.#places.get(id)
    return place === undefined ? -1 : this.#pairs.find(place, device)
  }

  #ruleOf(pair: number): EngineRule {
    return this.#rules[this.#pairs.ruleOf(pair)] as EngineRule
  }
}

/** Others are as good as without a state. */
function isKept({ phase, flapping, samples, changesMs }: PairState): boolean {
  return phase !== 'idle' || flapping || samples !== undefined || changesMs.length > 0
}
