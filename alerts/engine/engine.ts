/** Runs the evaluation by messages: commands in, batches of transitions out. Two batches may be in flight. Times are epoch milliseconds. */

import type { EndReason, Observation, PairState } from '../core/pair.ts'
import type { Transition } from '../store/apply.ts'
import type { DeviceFacts, EngineRule } from './covered-pairs.ts'
import { Evaluator } from './evaluator.ts'
import { PackedReader, type PackedReadings } from './packed-readings.ts'
import type { Replay } from './pair-states.ts'

/** Transitions in one transaction. */
const transitionsMax = 5000
const forgetEveryMs = 60_000

interface EngineOptions {
  readonly post: (message: EngineMessage) => void
  /** Calls back when other commands have had their turn. */
  readonly later: (call: () => void) => void
}

type Handlers = {
  readonly [Kind in EngineCommand['kind']]: (command: Extract<EngineCommand, { kind: Kind }>) => void
}

export class Engine {
  readonly #evaluator = new Evaluator()
  readonly #options: EngineOptions
  readonly #handlers: Handlers = createHandlers(this, this.#evaluator)
  #untilMs = Number.NEGATIVE_INFINITY
  /** Receipt time up to which all readings have been posted to the host. */
  #postedUntilMs = Number.NEGATIVE_INFINITY
  /** Lots that were posted and are not committed. */
  #onTheirWay = 0
  #isBehind = false
  #forgottenMs = Number.NEGATIVE_INFINITY

  constructor(options: EngineOptions) {
    this.#options = options
  }

  take(command: EngineCommand): void {
    const handle = this.#handlers[command.kind] as (command: EngineCommand) => void
    handle(command)
    this.postTransitions()
    if (command.kind !== 'readings') return
    this.#options.post({ kind: 'state', state: this.#state(), bytes: command.packed.byteLength })
  }

  post(message: EngineMessage): void {
    this.#options.post(message)
  }

  /** The oldest lot is committed. */
  applied(): void {
    this.#onTheirWay--
  }

  /** All that was received up to then is known here. It may be earlier than the last time: our clock may have been set back. */
  advanceTo(untilMs: number): void {
    this.#untilMs = untilMs
    this.#advance()
    if (untilMs < this.#forgottenMs + forgetEveryMs && untilMs >= this.#forgottenMs) return
    this.#forgottenMs = untilMs
    this.#evaluator.forget(untilMs)
  }

  #advance(): void {
    this.#isBehind = this.#evaluator.advance(this.#untilMs)
    if (this.#isBehind) this.#options.later(() => this.#advanceFurther())
  }

  #advanceFurther(): void {
    if (!this.#isBehind) return
    this.#advance()
    this.postTransitions()
  }

  /**
   * While a request is in flight, further transitions join the next one. Only a full one follows at once, so that
   * PostgreSQL need not wait.
   */
  postTransitions(all = false): void {
    const isFull = this.#evaluator.queue.length >= transitionsMax
    if (this.#onTheirWay >= (isFull ? 2 : 1)) return
    const transitions = this.#evaluator.takeTransitions(transitionsMax, all)
    if (this.#evaluator.isDrained() && !this.#isBehind) this.#postedUntilMs = this.#untilMs
    if (transitions.length === 0) return
    this.#onTheirWay++
    this.#options.post({ kind: 'transitions', transitions, state: this.#state() })
  }

  #state(): EngineState {
    const { queue, pairCount } = this.#evaluator
    return { untilMs: this.#postedUntilMs, waiting: queue.length, pairs: pairCount, merged: queue.merged }
  }
}

function createHandlers(engine: Engine, evaluator: Evaluator): Handlers {
  return {
    rule: ({ rule }) => evaluator.setRule(rule),
    removeRule: ({ id, reason, nowMs }) => evaluator.removeRule(id, reason, nowMs),
    cover: ({ id, devices, series }) => evaluator.cover(id, devices, series),
    uncover: ({ id, devices, reason, nowMs }) => evaluator.uncover(id, devices, reason, nowMs),
    devices({ facts }) {
      for (const each of facts) evaluator.setDevice(each)
    },
    restore({ pairs }) {
      for (const { rule, device, state } of pairs) evaluator.restore(rule, device, state)
    },
    readings({ packed, untilMs }) {
      const reader = new PackedReader(packed)
      while (reader.next()) evaluator.take(reader)
      engine.advanceTo(untilMs)
    },
    replay(command) {
      const reader = new PackedReader(command.packed)
      while (reader.next()) evaluator.replay(reader, command)
    },
    observe: ({ rule, device, observation }) => evaluator.observe(rule, device, observation),
    outage: ({ isOut, nowMs }) => evaluator.outage(isOut, nowMs),
    clock: ({ deltaMs, nowMs }) => evaluator.clockStepped(deltaMs, nowMs),
    eraseValues: ({ devices, metric }) => evaluator.eraseValues(devices, metric),
    applied: () => engine.applied(),
    flush: () => engine.postTransitions(true),
    ping: ({ id }) => engine.post({ kind: 'pong', id }),
    stop: () => undefined,
  }
}

export interface RestoredPair {
  readonly rule: number
  readonly device: number
  readonly state: PairState
}

export type EngineCommand =
  | { readonly kind: 'rule'; readonly rule: EngineRule }
  | { readonly kind: 'removeRule'; readonly id: number; readonly reason: EndReason; readonly nowMs: number }
  /** `series`: of the rule's metric, of each device. */
  | {
      readonly kind: 'cover'
      readonly id: number
      readonly devices: readonly number[]
      readonly series?: readonly number[] | undefined
    }
  | {
      readonly kind: 'uncover'
      readonly id: number
      readonly devices: readonly number[]
      readonly reason: EndReason
      readonly nowMs: number
    }
  | { readonly kind: 'devices'; readonly facts: readonly DeviceFacts[] }
  | { readonly kind: 'restore'; readonly pairs: readonly RestoredPair[] }
  /** Readings that were taken. All that came up to `untilMs` was posted. */
  | { readonly kind: 'readings'; readonly packed: PackedReadings; readonly untilMs: number }
  /** Readings that are stored, in the order of time. */
  | ({ readonly kind: 'replay'; readonly packed: PackedReadings } & Replay)
  | {
      readonly kind: 'observe'
      readonly rule: number
      readonly device: number
      readonly observation: Observation
    }
  | {
      readonly kind: 'outage'
      readonly isOut: boolean
      readonly nowMs: number
    }
  /** Erases values of these devices; with a metric, only in its rules. */
  | { readonly kind: 'eraseValues'; readonly devices: readonly number[]; readonly metric: string | null }
  | { readonly kind: 'clock'; readonly deltaMs: number; readonly nowMs: number }
  /** The oldest transitions that are on their way are committed: the next ones may follow. */
  | { readonly kind: 'applied' }
  /** All that waits is to be posted, short phases too. */
  | { readonly kind: 'flush' }
  /** Answered with the same word. */
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'stop' }

export interface EngineState {
  /** Receipt time up to which all readings are evaluated and posted to the host. */
  readonly untilMs: number
  /** Transitions that were not posted yet. */
  readonly waiting: number
  readonly pairs: number
  /** Alerts that came and went while they could not be written. */
  readonly merged: number
}

export type EngineMessage =
  /** The answer to `readings`, with the bytes of these. */
  | { readonly kind: 'state'; readonly state: EngineState; readonly bytes: number }
  | { readonly kind: 'transitions'; readonly transitions: readonly Transition[]; readonly state: EngineState }
  | { readonly kind: 'pong'; readonly id: number }
