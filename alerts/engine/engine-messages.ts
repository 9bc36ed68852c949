/** Messages between the engine's thread and its host. Times are epoch milliseconds. */

import type { EndReason, Observation } from '../core/observation.ts'
import type { PairState } from '../core/pair.ts'
import type { Transition } from '../store/apply.ts'
import type { DeviceFacts } from './device-facts.ts'
import type { EngineRule } from './engine-rule.ts'
import type { PackedReadings } from './packed-readings.ts'
import type { Replay } from './value-watch.ts'

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
  /** Up to then all that was received is evaluated and posted to the host. */
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
