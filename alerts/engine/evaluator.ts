/**
 * Evaluates rules on devices: it takes readings, deadlines that have passed and other observations, and returns transitions of
 * the pairs of both. It reads no clock and waits for nothing, so that the service and the preview share it: the clock of a
 * preview is virtual. A pair that does not fire has no state.
 */

import { type EndReason, idlePair, type Observation, type PairState } from '../core/pair.ts'
import { noDevice } from '../core/rule.ts'
import type { Transition } from '../store/apply.ts'
import type { DeviceFacts } from './covered-pairs.ts'
import {
  type CoveredDevice,
  type CoveredPair,
  CoveredPairs,
  type CoveredRule,
  type EngineRule,
} from './covered-pairs.ts'
import {
  type EngineReading,
  eraseValues,
  forgetIdle,
  isAhead,
  PairStates,
  type Replay,
  replayReading,
  shiftTimes,
  takeReading,
} from './pair-states.ts'
import { nextLookMs, SilenceWatch } from './silence-watch.ts'

/** Deadlines that are looked at in one go. Each takes some microseconds. */
const dueMax = 20_000

export class Evaluator {
  readonly #covered = new CoveredPairs()
  readonly #silence = new SilenceWatch()
  readonly #states = new PairStates(pair => this.#silence.schedule(pair))
  readonly queue = this.#states.queue

  get pairCount(): number {
    return this.#covered.count
  }

  /** Adds or replaces the rule of this id. Firing alerts continue until the next observation. */
  setRule(rule: EngineRule): void {
    const before = this.#covered.rule(rule.id)
    if (before === undefined) {
      this.#covered.addRule(rule)
      return
    }
    before.rule = rule
    for (const pair of this.#covered.pairs(before)) this.#silence.schedule(pair)
  }

  removeRule(id: number, reason: EndReason, nowMs: number): void {
    const rule = this.#covered.rule(id)
    if (rule === undefined) return
    for (const pair of this.#covered.pairs(rule)) this.#removePair(pair, reason, nowMs)
    this.#covered.removeRule(id)
  }

  /** Devices that the rule covers already keep their state. `series`: the device's series of the rule's metric. */
  cover(id: number, devices: readonly number[], series?: readonly number[]): void {
    const rule = this.#covered.rule(id)
    if (rule === undefined) return
    devices.forEach((device, index) => {
      const pair = this.#covered.find(id, device) ?? this.#addPair(rule, device)
      if (series !== undefined) pair.series = series[index] as number
    })
  }

  #addPair(rule: CoveredRule, device: number): CoveredPair {
    const pair = this.#covered.add(rule, device)
    this.#silence.added(pair)
    return pair
  }

  uncover(id: number, devices: readonly number[], reason: EndReason, nowMs: number): void {
    for (const device of devices) {
      const pair = this.#covered.find(id, device)
      if (pair !== undefined) this.#removePair(pair, reason, nowMs)
    }
  }

  #removePair(pair: CoveredPair, reason: EndReason, nowMs: number): void {
    if (pair.state !== undefined) this.#states.observe(pair, { kind: 'end', nowMs, reason })
    this.#silence.removed(pair)
    this.#covered.remove(pair)
  }

  /** Ignores devices that no rule covers. */
  setDevice(facts: DeviceFacts): void {
    const device = this.#covered.device(facts.number)
    if (device === undefined) return
    const isFirst = Number.isNaN(device.lastMs)
    // Readings that were taken since stay.
    device.seenUs = latest(device.seenUs, facts.seenUs)
    device.lastMs = latest(device.lastMs, facts.lastMs)
    device.lateMs = facts.lateSeconds * 1000
    device.freshMs = facts.freshSeconds * 1000
    const { lastMs, pairs } = device
    const reading: Observation = { kind: 'reading', timeUs: lastMs * 1000, receiptMs: lastMs, value: Number.NaN }
    for (const pair of pairs) {
      // Readings may have come while none was passed on.
      const isOfSilence = pair.of.rule.core.condition.kind === 'silent'
      if (isOfSilence && pair.state !== undefined && !Number.isNaN(lastMs)) this.#states.observe(pair, reading)
      if (isFirst) this.#silence.learned(pair)
      this.#silence.schedule(pair)
    }
  }

  /** Loads the state of the last run. Pairs that are no longer covered end. */
  restore(id: number, device: number, state: PairState): void {
    const rule = this.#covered.rule(id)
    if (rule === undefined) return
    const found = this.#covered.find(id, device)
    const pair = found ?? this.#addPair(rule, device)
    this.#states.restore(pair, state)
    if (found === undefined) this.#removePair(pair, 'not_selected', this.#states.nowMs)
    else this.#silence.schedule(pair)
  }

  take(reading: EngineReading): void {
    const device = this.#covered.device(reading.device)
    if (device === undefined) return
    const receivedMs = Math.min(reading.timeUs / 1000, reading.receiptMs)
    const isAlive = !(receivedMs <= device.lastMs)
    takeReading(this.#states, device, reading, isAlive)
    if (!isAlive) return
    const isFirst = Number.isNaN(device.lastMs)
    device.lastMs = receivedMs
    this.#silence.received(device, isFirst)
  }

  /** A stored reading; see replayReading. */
  replay(reading: EngineReading, replay: Replay): void {
    const device = this.#covered.device(reading.device)
    if (device !== undefined) replayReading(this.#states, device, reading, replay)
  }

  /** Observations other than readings. */
  observe(id: number, device: number, observation: Observation): void {
    const pair = this.#covered.find(id, device)
    if (pair !== undefined) this.#states.observe(pair, observation)
  }

  /** True while this process was stopped itself; see SilenceWatch. */
  outage(isOut: boolean, nowMs: number): void {
    this.#silence.outage(isOut, nowMs)
    if (this.#states.nowMs === Number.NEGATIVE_INFINITY) this.#states.nowMs = nowMs
  }

  /** Our clock was set by so much, and says this now. */
  clockStepped(deltaMs: number, nowMs: number): void {
    this.#silence.clockStepped(nowMs)
    this.#states.nowMs = nowMs
    for (const device of this.#covered.devices()) {
      if (deltaMs < 0) clampTimes(device, nowMs)
      for (const pair of device.pairs) {
        shiftTimes(pair, deltaMs, nowMs)
        this.#silence.schedule(pair)
      }
    }
  }

  /** All readings that were received up to then were taken. True when there is more to do than one go should. */
  advance(nowMs: number): boolean {
    this.#states.nowMs = nowMs
    for (let count = 0; count < dueMax && this.#silence.isDue(nowMs); count++) {
      const pair = this.#silence.take(nowMs)
      if (pair !== undefined) this.#lookAt(pair, nowMs)
    }
    const isBehind = this.#silence.isDue(nowMs)
    if (!isBehind) this.#lookAtSites(nowMs)
    return isBehind
  }

  /**
   * Returns the time at which time alone may change something next. Infinity: never. -Infinity: with the readings that
   * were taken.
   */
  nextMs(): number {
    return this.#silence.nextMs()
  }

  #lookAt(pair: CoveredPair, nowMs: number): void {
    const { core } = pair.of.rule
    const { lastMs } = pair.device
    const dueMs = this.#silence.dueMs(pair)
    const isDue = nextLookMs(core, pair.state, dueMs) <= nowMs || pair.state?.phase === 'pending'
    const idle = { ...idlePair, seenUs: lastMs * 1000, atMs: lastMs }
    if (isDue) this.#states.observe(pair, { kind: 'tick', nowMs, lastMs, dueMs }, pair.state ?? idle)
    const nextMs = nextLookMs(core, pair.state, dueMs)
    // A pair that flaps does not settle while it is pending.
    this.#silence.setDeadline(pair, nextMs <= nowMs ? nowMs + 1000 : nextMs)
  }

  #lookAtSites(nowMs: number): void {
    for (const pair of this.#covered.device(noDevice)?.pairs ?? []) {
      const observation = this.#silence.siteOf(pair, nowMs)
      if (observation !== undefined) this.#states.observe(pair, observation)
    }
    this.#silence.sitesEvaluated()
  }

  /** A pair that has been idle for two hours needs no state. */
  forget(nowMs: number): void {
    for (const pair of this.#covered.pairs()) forgetIdle(pair, nowMs)
  }

  /** Removes values of erased devices from memory; with a metric, only in its rules. */
  eraseValues(devices: readonly number[], metric: string | null): void {
    for (const pair of devices.flatMap(device => this.#covered.device(device)?.pairs ?? [])) {
      if (metric === null || pair.of.rule.metric === metric) eraseValues(pair)
    }
    this.queue.eraseValues(new Set(devices), metric)
  }

  takeTransitions(countMax: number, all = false): Transition[] {
    return this.queue.take(countMax, this.#states.nowMs, all)
  }

  /** True when no transition waits. */
  isDrained(): boolean {
    return !this.queue.isDue(this.#states.nowMs)
  }
}

/** Our clock was set back: no reading came later than now, and no time that we gave is. Times of a clock that is ahead stay. */
function clampTimes(device: CoveredDevice, nowMs: number): void {
  const { seenUs, lastMs } = device
  if (lastMs <= nowMs || Number.isNaN(lastMs)) return
  if (!isAhead(seenUs, lastMs)) device.seenUs = Math.min(seenUs, nowMs * 1000)
  device.lastMs = nowMs
}

function latest(a: number, b: number): number {
  if (Number.isNaN(a)) return b
  return Number.isNaN(b) ? a : Math.max(a, b)
}
