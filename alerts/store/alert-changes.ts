/** What transitions make of alerts: which are new, which change, and what is to be told of them. No database here. */

import type { Severity } from '../core/rule.ts'
import type { Effect } from '../core/transition.ts'

/** An alert that is not resolved, as it stands. */
export interface OpenAlert {
  id: number
  state: 'pending' | 'firing'
  flapping: boolean
  firedMs: number
}

export interface PairOfAlert {
  rule: number
  device: number
  metric: string | null
  severity: Severity
}

export interface AlertChange extends PairOfAlert {
  /** Undefined of a new one. */
  id: number | undefined
  state: 'pending' | 'firing' | 'resolved'
  flapping: boolean
  /** Of a new one. NaN: none. */
  openedMs: number
  firedMs: number
  resolvedMs: number
  reason: string | null
  value: number
  /** Pending, and over before it fired. */
  isDropped: boolean
  events: { kind: string; atMs: number; details: object }[]
  /** What of it is news to those who are told: that it fires, that it flaps. An end is told by its state. */
  news: 'firing' | 'flapping' | undefined
  hasChanged: boolean
}

/** Effects of one pair in their order, on the alert that is open of it. Of one that is over, another one may follow. */
export function changesOf(
  pair: PairOfAlert,
  effects: readonly Effect[],
  open: OpenAlert | undefined,
  /** When an alert was opened of which nothing is stored. */
  openedMs: number,
): AlertChange[] {
  const changes: AlertChange[] = []
  let current = open === undefined ? undefined : known(pair, open)
  if (current !== undefined) changes.push(current)
  for (const effect of effects) {
    if (current === undefined) {
      if (effect.kind !== 'opened' && effect.kind !== 'fired') continue
      current = begun(pair, effect.kind === 'opened' || Number.isNaN(openedMs) ? effect.atMs : openedMs)
      changes.push(current)
    }
    apply(current, effect)
    if (current.isDropped || current.state === 'resolved') current = undefined
  }
  // One that came and went in between is none.
  return changes.filter(({ id, isDropped, hasChanged }) => hasChanged && !(isDropped && id === undefined))
}

function known(pair: PairOfAlert, { id, state, flapping, firedMs }: OpenAlert): AlertChange {
  return { ...empty(pair), id, state, flapping, firedMs }
}

function begun(pair: PairOfAlert, openedMs: number): AlertChange {
  const events = [{ kind: 'pending', atMs: openedMs, details: {} }]
  return { ...empty(pair), openedMs, events, hasChanged: true }
}

function empty(pair: PairOfAlert): AlertChange {
  return {
    ...pair,
    id: undefined,
    state: 'pending',
    flapping: false,
    openedMs: Number.NaN,
    firedMs: Number.NaN,
    resolvedMs: Number.NaN,
    reason: null,
    value: Number.NaN,
    isDropped: false,
    events: [],
    news: undefined,
    hasChanged: false,
  }
}

/** What is so already changes nothing: of the same effect a second time nobody is told. */
function apply(change: AlertChange, effect: Effect): void {
  switch (effect.kind) {
    case 'opened':
      return
    case 'fired':
      if (change.state !== 'pending') return
      Object.assign(change, { state: 'firing', firedMs: effect.atMs, value: effect.value, news: 'firing' })
      return note(change, 'firing', effect.atMs, valued(effect.value))
    case 'dropped':
      if (change.state !== 'pending') return
      Object.assign(change, { isDropped: true, hasChanged: true })
      return
    case 'resolved':
      if (change.state === 'pending') return void Object.assign(change, { isDropped: true, hasChanged: true })
      Object.assign(change, { state: 'resolved', resolvedMs: effect.atMs, value: effect.value, reason: effect.reason })
      change.flapping = false
      return note(change, 'resolved', effect.atMs, { reason: effect.reason, ...valued(effect.value) })
    case 'flapping':
      if (change.flapping || change.state !== 'firing') return
      Object.assign(change, { flapping: true, news: 'flapping' })
      return note(change, 'flapping', effect.atMs)
    case 'settled':
      if (!change.flapping) return
      change.flapping = false
      return note(change, 'settled', effect.atMs)
  }
}

function note(change: AlertChange, kind: string, atMs: number, details: object = {}): void {
  change.events.push({ kind, atMs, details })
  change.hasChanged = true
}

function valued(value: number): object {
  return Number.isFinite(value) ? { value } : {}
}

const tellableMs = 60_000

/** Whether one that is over before anybody was told of it is told all the same. */
export function isTellable({
  firedMs,
  resolvedMs,
  reason,
}: Pick<AlertChange, 'firedMs' | 'resolvedMs' | 'reason'>): boolean {
  return reason === 'cleared' && resolvedMs - firedMs >= tellableMs
}
