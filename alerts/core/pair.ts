/** State of a rule on a device, and the observations that change it. */

import type { Samples } from './samples.ts'

/** `clearing`: it fires, and has been back behind its threshold for less than `keep_firing_seconds`. */
type Phase = 'idle' | 'pending' | 'firing' | 'clearing'

/** Times in epoch milliseconds, NaN for none. They are observation times, at most the time of receipt, and never decrease. */
export interface PairState {
  readonly phase: Phase
  /** Time at which the pair became beyond (pending) or back (clearing). */
  readonly sinceMs: number
  readonly openedMs: number
  readonly firedMs: number
  /** Time of the newest reading by the device's clock, epoch microseconds. For a rule on silence, at most its receipt. */
  readonly seenUs: number
  readonly atMs: number
  /** The last value, difference, share or count of seconds; NaN without. */
  readonly value: number
  /** The last changes between firing and not, at most seven. */
  readonly changesMs: readonly number[]
  readonly flapping: boolean
  /** Only rules on a change have samples. */
  readonly samples?: Samples
}

export const idlePair: PairState = {
  phase: 'idle',
  sinceMs: Number.NaN,
  openedMs: Number.NaN,
  firedMs: Number.NaN,
  seenUs: Number.NaN,
  atMs: Number.NaN,
  value: Number.NaN,
  changesMs: [],
  flapping: false,
}

/** The same phase without readings: an end of it has no value. */
export function withoutValues({ samples: _, ...state }: PairState): PairState {
  return { ...state, value: Number.NaN }
}

/** True if an alert of it is open, pending or firing. */
export function isOpen(state: PairState): boolean {
  return state.phase !== 'idle' || state.flapping
}

const numbers = ['sinceMs', 'openedMs', 'firedMs', 'seenUs', 'atMs', 'value'] as const
type Numbers = (typeof numbers)[number]

/** NaN, which JSON has no number for, is null. */
export type PairJson = Omit<PairState, Numbers> & { readonly [Name in Numbers]: number | null }

export function pairToJson(state: PairState): PairJson {
  const entries = numbers.map(name => [name, Number.isNaN(state[name]) ? null : state[name]])
  return { ...state, ...(Object.fromEntries(entries) as Record<Numbers, number | null>) }
}

export function pairFromJson(json: PairJson): PairState {
  const entries = numbers.map(name => [name, json[name] ?? Number.NaN])
  return { ...json, ...(Object.fromEntries(entries) as Record<Numbers, number>) }
}

/** Reason why an alert ends though it has not cleared. */
export type EndReason =
  | 'rule_removed'
  | 'rule_disabled'
  | 'rule_changed'
  | 'device_removed'
  | 'device_off'
  | 'not_selected'

export type Observation =
  /** The value is of the rule's metric; NaN: only that the device is alive. Time in epoch microseconds. */
  | {
      readonly kind: 'reading'
      readonly timeUs: number
      readonly receiptMs: number
      readonly value: number
    }
  /** A device whose last reading was at `lastMs` counts as silent from `dueMs` on. */
  | { readonly kind: 'tick'; readonly nowMs: number; readonly lastMs: number; readonly dueMs: number }
  /**
   * A full hour, effective at its end: the share of the expected readings, or of suspect ones (1 with a flat line), or
   * NaN if unknown.
   */
  | { readonly kind: 'hour'; readonly hourMs: number; readonly share: number }
  /** Minimum days until the battery is empty. NaN: not known. */
  | { readonly kind: 'days'; readonly atMs: number; readonly days: number }
  /** The distance of a gauge from its usual value in a full hour. 0: not unusual. NaN: not known. */
  | { readonly kind: 'unusual'; readonly hourMs: number; readonly shift: number }
  /** Number of silent devices of the selector, and of all its devices. */
  | { readonly kind: 'site'; readonly nowMs: number; readonly silent: number; readonly devices: number }
  /** A fact about the service itself. */
  | {
      readonly kind: 'fact'
      readonly nowMs: number
      readonly holds: boolean
      readonly value: number
      readonly text: string
    }
  | { readonly kind: 'end'; readonly nowMs: number; readonly reason: EndReason }
