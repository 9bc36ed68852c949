/** The state of an answer on a page: loading, current, stale or failed. */

import { t } from '../words/words.ts'
import type { Failure, Outcome } from './read-json.ts'

/** `atMs`: when the service last said that the value is current, by the browser's clock. */
export type ResourceState<T> =
  | { kind: 'loading' }
  | { kind: 'ready'; value: T; atMs: number }
  | { kind: 'stale'; value: T; atMs: number; failure: Failure }
  | { kind: 'failed'; failure: Failure }

const retryMsMin = 1_000
const retryMsMax = 30_000

/** The state after a read. */
export function nextState<T>(state: ResourceState<T>, outcome: Outcome<T>, nowMs: number): ResourceState<T> {
  if (outcome.kind === 'answer') return { kind: 'ready', value: outcome.value, atMs: nowMs }
  const hasValue = state.kind === 'ready' || state.kind === 'stale'
  if (outcome.kind === 'unchanged') return hasValue ? { kind: 'ready', value: state.value, atMs: nowMs } : state
  const { failure } = outcome
  // A value that was removed, or that the visitor may no longer read, leaves the screen.
  if (!hasValue || failure.kind === 'signed-out' || failure.kind === 'missing') return { kind: 'failed', failure }
  return { kind: 'stale', value: state.value, atMs: state.atMs, failure }
}

/** Returns undefined for failures that waiting does not change. */
export function retryDelayMs(failure: Failure, failures: number): number | undefined {
  if (failure.kind === 'signed-out' || failure.kind === 'missing' || failure.kind === 'refused') return undefined
  const delayMs = Math.min(retryMsMin * 2 ** (failures - 1), retryMsMax)
  const askedMs = failure.kind === 'unavailable' ? (failure.retryAfterMs ?? 0) : 0
  return Math.max(delayMs, askedMs)
}

export function lastValue<T>(state: ResourceState<T>): T | undefined {
  return state.kind === 'ready' || state.kind === 'stale' ? state.value : undefined
}

/** The worst state of a page with several answers: failed before stale; `loading` only where none has failed. */
export function worstState(states: readonly ResourceState<unknown>[]): ResourceState<unknown> {
  return (
    states.find(({ kind }) => kind === 'failed') ?? states.find(({ kind }) => kind === 'stale') ?? { kind: 'loading' }
  )
}

/** A notice for the tab's title, empty while no read fails. */
export function noticeOf(state: ResourceState<unknown>): string {
  if (state.kind !== 'stale' && state.kind !== 'failed') return ''
  return state.failure.kind === 'unreachable' ? t('No connection') : t('No data')
}
