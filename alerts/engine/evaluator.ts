/**
 * Evaluates rules on devices: it is told readings, deadlines that have passed and other observations, and says which pairs of
 * both have changed. It reads no clock and waits for nothing. A pair that does not fire costs a few numbers, and only others a
 * state of their own.
 */

import type { EndReason, Observation } from '../core/observation.ts'
import { idlePair, type PairState } from '../core/pair.ts'
import { noDevice } from '../core/rule.ts'
import type { Transition } from '../store/apply.ts'
import { CoveredPairs } from './covered-pairs.ts'
import { type DeviceFacts, DeviceTimes } from './device-times.ts'
import type { EngineRule } from './engine-rule.ts'
import { PairStates } from './pair-states.ts'
import { nextLookMs } from './silence-deadlines.ts'
import { SilenceWatch } from './silence-watch.ts'
import { type EngineReading, type Replay, ValueWatch } from './value-watch.ts'

/** Deadlines that are looked at in one go; each takes some microseconds. */
const dueMax = 20_000

export class Evaluator {
  readonly #covered = new CoveredPairs()
  readonly #pairs = this.#covered.table
  readonly #times = new DeviceTimes()
  readonly #silence = new SilenceWatch(this.#pairs, this.#times, pair => this.#covered.ruleOf(pair))
  readonly #states = new PairStates(this.#covered, pair => this.#schedule(pair))
  readonly #values = new ValueWatch(this.#covered, this.#times, this.#states)
  readonly queue = this.#states.queue

  get pairCount(): number {
    return this.#pairs.count
  }

  /** New, or in place of the one of this id. What fires goes on firing until the next observation. */
  setRule(rule: EngineRule): void {
    const before = this.#covered.placeOf(rule.id)
    this.#covered.setRule(rule)
    if (before !== undefined) this.#covered.eachOf(before, pair => this.#schedule(pair))
  }

  removeRule(id: number, reason: EndReason, nowMs: number): void {
    const place = this.#covered.placeOf(id)
    if (place === undefined) return
    this.#covered.eachOf(place, pair => this.#removePair(pair, reason, nowMs))
    this.#covered.removeRule(id)
    this.#silence.ruleRemoved(place)
  }

  /** Those that it covers already stay as they are. A series is the device's own of the rule's metric. */
  cover(id: number, devices: Int32Array, series?: Int32Array): void {
    const place = this.#covered.placeOf(id)
    if (place === undefined) return
    devices.forEach((device, index) => {
      const found = this.#pairs.find(place, device)
      const pair = found < 0 ? this.#addPair(place, device) : found
      if (series !== undefined) this.#covered.setSeries(pair, series[index] as number)
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
    for (const device of devices) {
      const pair = this.#covered.find(id, device)
      if (pair >= 0) this.#removePair(pair, reason, nowMs)
    }
  }

  #removePair(pair: number, reason: EndReason, nowMs: number): void {
    if (this.#states.has(pair)) this.#states.observe(pair, { kind: 'end', nowMs, reason })
    this.#states.delete(pair)
    this.#silence.removed(pair)
    this.#covered.remove(pair)
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
      const isOfSilence = this.#covered.ruleOf(pair).core.condition.kind === 'silent'
      if (isOfSilence && this.#states.has(pair) && !Number.isNaN(lastMs)) this.#states.observe(pair, reading)
      if (isFirst) this.#silence.learned(pair)
      this.#schedule(pair)
    }
  }

  /** The state of the last run. What is not covered any more ends. */
  restore(id: number, device: number, state: PairState): void {
    const place = this.#covered.placeOf(id)
    if (place === undefined) return
    const found = this.#pairs.find(place, device)
    const pair = found < 0 ? this.#addPair(place, device) : found
    this.#states.restore(pair, state)
    if (found < 0) this.#removePair(pair, 'not_selected', this.#states.nowMs)
    else this.#schedule(pair)
  }

  take(reading: EngineReading): void {
    const slot = this.#pairs.slotOf(reading.device)
    if (slot < 0) return
    const { lastMs } = this.#times
    const heardMs = Math.min(reading.timeUs / 1000, reading.receiptMs)
    const isAlive = !(heardMs <= (lastMs[slot] as number))
    this.#values.take(slot, reading, isAlive)
    if (!isAlive) return
    const isFirst = Number.isNaN(lastMs[slot] as number)
    lastMs[slot] = heardMs
    this.#silence.heard(slot, isFirst)
  }

  /** A stored reading; see ValueWatch. */
  replay(reading: EngineReading, replay: Replay): void {
    const slot = this.#pairs.slotOf(reading.device)
    if (slot >= 0) this.#values.replay(slot, reading, replay)
  }

  /** What is no reading. */
  observe(id: number, device: number, observation: Observation): void {
    const pair = this.#covered.find(id, device)
    if (pair >= 0) this.#states.observeUnlessIdle(pair, observation)
  }

  /** Whether we were away ourselves; see SilenceWatch. */
  outage(isOut: boolean, nowMs: number): void {
    this.#silence.outage(isOut, nowMs)
    if (this.#states.nowMs === Number.NEGATIVE_INFINITY) this.#states.nowMs = nowMs
  }

  /** Our clock was set by so much, and says this now. */
  clockStepped(deltaMs: number, nowMs: number): void {
    this.#silence.clockStepped(nowMs)
    if (deltaMs < 0) this.#times.clamp(nowMs)
    this.#states.clockStepped(deltaMs, nowMs)
    for (let pair = 0; pair < this.#pairs.end; pair++) if (this.#pairs.ruleOf(pair) >= 0) this.#schedule(pair)
  }

  /** All that was received up to then was told. True when there is more to do than one go should. */
  advance(nowMs: number): boolean {
    this.#states.nowMs = nowMs
    for (let count = 0; count < dueMax && this.#silence.isDue(nowMs); count++) {
      const pair = this.#silence.take(nowMs)
      if (pair >= 0) this.#lookAt(pair, nowMs)
    }
    const isBehind = this.#silence.isDue(nowMs)
    if (!isBehind) this.#lookAtSites(nowMs)
    return isBehind
  }

  /** When time alone may change something next; Infinity: never, -Infinity: with the readings that were taken. */
  nextMs(): number {
    return this.#silence.nextMs()
  }

  #lookAt(pair: number, nowMs: number): void {
    const { core } = this.#covered.ruleOf(pair)
    const lastMs = this.#times.lastMs[this.#pairs.slotOf(this.#pairs.deviceOf(pair))] as number
    const dueMs = this.#silence.dueMs(pair)
    const state = this.#states.of(pair)
    const isDue = nextLookMs(core, state, dueMs) <= nowMs || state?.phase === 'pending'
    const idle = { ...idlePair, seenUs: lastMs * 1000, atMs: lastMs }
    if (isDue) this.#states.observe(pair, { kind: 'tick', nowMs, lastMs, dueMs }, state ?? idle)
    const nextMs = nextLookMs(core, this.#states.of(pair), dueMs)
    // A pair that flaps does not settle while it is pending.
    this.#silence.lookAgain(pair, nextMs <= nowMs ? nowMs + 1000 : nextMs)
  }

  #lookAtSites(nowMs: number): void {
    for (const [place, rule] of this.#covered.rules()) {
      if (rule.core.condition.kind !== 'site_silent') continue
      const pair = this.#pairs.find(place, noDevice)
      const observation = pair < 0 ? undefined : this.#silence.siteOf(pair, nowMs)
      if (observation !== undefined) this.#states.observeUnlessIdle(pair, observation)
    }
    this.#silence.sitesEvaluated()
  }

  #schedule(pair: number): void {
    this.#silence.schedule(pair, this.#states.of(pair))
  }

  /** What has been idle for two hours needs no state. */
  forget(nowMs: number): void {
    this.#states.forget(nowMs)
  }

  /** Values of erased devices leave memory; with a metric, those of its rules alone. */
  eraseValues(devices: readonly number[], metric: string | null): void {
    for (const device of devices) {
      const slot = this.#pairs.slotOf(device)
      if (slot < 0) continue
      for (let pair = this.#pairs.firstOf(slot); pair >= 0; pair = this.#pairs.nextOf(pair)) {
        if (metric === null || this.#covered.ruleOf(pair).metric === metric) this.#states.eraseValues(pair)
      }
    }
    this.queue.eraseValues(new Set(devices), metric)
  }

  takeTransitions(countMax: number, all = false): Transition[] {
    return this.queue.take(countMax, this.#states.nowMs, all)
  }

  /** Whether all that is to be written has been taken. */
  isDrained(): boolean {
    return !this.queue.isDue(this.#states.nowMs)
  }
}
