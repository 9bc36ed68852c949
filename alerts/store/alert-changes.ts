/** Turns transitions into alerts: new ones, changed ones, and pending notifications. Pure, without a database. */

import type { Severity } from '../core/rule.ts'
import type { Effect } from '../core/transition.ts'

/** An alert that is not resolved, as it stands. */
export interface OpenAlert {
  id: number
  state: 'pending' | 'firing'
  flapping: boolean
  firedMs: number
  value: number
}

export interface PairOfAlert {
  rule: number
  device: number
  metric: string | null
  severity: Severity
}

interface AlertEvent {
  kind: 'pending' | 'firing' | 'resolved' | 'flapping' | 'settled'
  atMs: number
  details: object
}

export interface AlertChange extends PairOfAlert {
  /** Undefined of a new one. */
  id: number | undefined
  state: 'pending' | 'firing' | 'resolved'
  flapping: boolean
  /** Value of a new alert; NaN without one. */
  openedMs: number
  firedMs: number
  /** Set for a firing alert. */
  firedValue: number
  resolvedMs: number
  reason: string | null
  value: number
  /** Pending, and over before it fired. */
  isDropped: boolean
  /** New state. */
  events: AlertEvent[]
  hasChanged: boolean
}

/** Effects of one pair in their order, on the alert that is open of it. Of one that is over, another one may follow. */
export function changesOf(
  pair: PairOfAlert,
  effects: readonly Effect[],
  open: OpenAlert | undefined,
  /** Opening time of an alert that is not stored yet. */
  openedMs: number,
): AlertChange[] {
  const changes = open === undefined ? [] : [known(pair, open)]
  for (const effect of effects) {
    const last = changes.at(-1)
    const isOver = last === undefined || last.isDropped || last.state === 'resolved'
    const current = isOver ? begun(pair, effect, openedMs) : last
    if (current === undefined) continue
    if (isOver) changes.push(current)
    apply(current, effect)
  }
  // One that came and went in between is none.
  return changes.filter(({ id, isDropped, hasChanged }) => hasChanged && !(isDropped && id === undefined))
}

function known(pair: PairOfAlert, { id, state, flapping, firedMs, value }: OpenAlert): AlertChange {
  return { ...empty(pair), id, state, flapping, firedMs, firedValue: value }
}

/** Undefined where nothing begins with it. */
function begun(pair: PairOfAlert, effect: Effect, knownMs: number): AlertChange | undefined {
  if (effect.kind !== 'opened' && effect.kind !== 'fired') return undefined
  const openedMs = effect.kind === 'opened' || Number.isNaN(knownMs) ? effect.atMs : knownMs
  const events: AlertEvent[] = [{ kind: 'pending', atMs: openedMs, details: {} }]
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
    firedValue: Number.NaN,
    resolvedMs: Number.NaN,
    reason: null,
    value: Number.NaN,
    isDropped: false,
    events: [],
    hasChanged: false,
  }
}

/** Repeated effects change nothing, so that a retried batch notifies once. */
function apply(change: AlertChange, effect: Effect): void {
  switch (effect.kind) {
    case 'opened':
      return
    case 'fired':
      if (change.state === 'pending') fire(change, effect)
      return
    case 'dropped':
    case 'resolved':
      if (change.state === 'pending') drop(change)
      else if (effect.kind === 'resolved') resolve(change, effect)
      return
    case 'flapping':
    case 'settled': {
      const flapping = effect.kind === 'flapping'
      if (change.state === 'pending' || change.flapping === flapping) return
      change.flapping = flapping
      note(change, effect.kind, effect.atMs, {})
    }
  }
}

function fire(change: AlertChange, { atMs, value }: Extract<Effect, { kind: 'fired' }>): void {
  change.state = 'firing'
  change.firedMs = atMs
  change.firedValue = value
  change.value = value
  note(change, 'firing', atMs, valued(value))
}

function drop(change: AlertChange): void {
  change.isDropped = true
  change.hasChanged = true
}

function resolve(change: AlertChange, { atMs, value, reason }: Extract<Effect, { kind: 'resolved' }>): void {
  change.state = 'resolved'
  change.flapping = false
  change.resolvedMs = atMs
  change.value = value
  change.reason = reason
  note(change, 'resolved', atMs, { reason, ...valued(value) })
}

function note(change: AlertChange, kind: AlertEvent['kind'], atMs: number, details: object): void {
  change.events.push({ kind, atMs, details })
  change.hasChanged = true
}

function valued(value: number): object {
  return Number.isFinite(value) ? { value } : {}
}

/**
 * New rows of its history. When it was opened stands in its own row, and when and with which value it fired as long as it does: of
 * all that fires at once, each row counts.
 */
export function historyOf(change: AlertChange): AlertEvent[] {
  const { state, events, firedMs, firedValue } = change
  const rows = events.filter(({ kind }) => kind !== 'pending' && kind !== 'firing')
  if (state !== 'resolved') return rows
  return [{ kind: 'firing', atMs: firedMs, details: valued(firedValue) }, ...rows]
}

/** True for a new state. */
export function hasBecome({ events }: AlertChange, kind: AlertEvent['kind']): boolean {
  return events.some(event => event.kind === kind)
}

const tellableMs = 60_000

/** True where an end without a notified start is notified. */
export function isTellable({
  firedMs,
  resolvedMs,
  reason,
}: Pick<AlertChange, 'firedMs' | 'resolvedMs' | 'reason'>): boolean {
  return reason === 'cleared' && resolvedMs - firedMs >= tellableMs
}
