/**
 * An answer of the service that is read periodically while the page is visible. After a failed read the last answer
 * stays, marked as stale, and retries get less frequent.
 */

import { type ReadonlySignal, signal } from '@preact/signals'
import { type Outcome, type ReadOptions, readJson } from './read-json.ts'
import { nextState, type ResourceState, retryDelayMs } from './resource-state.ts'
import { whileVisible } from './screen.ts'

export interface Resource<T> {
  readonly state: ReadonlySignal<ResourceState<T>>
  /** Reads now; a read in progress is awaited instead. */
  refresh(): Promise<void>
  close(): void
}

export interface ResourceOptions<T> {
  /** The poll interval. Without it, reads follow `refresh` and failures only. */
  everyMs?: number
  /** Default: the answer is JSON. */
  read?: (url: string, options: ReadOptions) => Promise<Outcome<T>>
}

/** Reads `url` at once; `addressOf` makes one of a path. Close it. */
export function openResource<T>(url: string, { everyMs, read = readJson<T> }: ResourceOptions<T> = {}): Resource<T> {
  const state = signal<ResourceState<T>>({ kind: 'loading' })
  const closing = new AbortController()
  let etag: string | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let reading: Promise<void> | undefined
  let isVisible = true

  async function readOnce(): Promise<void> {
    clearTimeout(timer)
    const outcome = await read(url, { etag, signal: closing.signal })
    if (outcome.kind === 'answer') etag = outcome.etag
    failures = outcome.kind === 'failure' ? failures + 1 : 0
    state.value = nextState(state.value, outcome, Date.now())
    schedule(outcome)
  }

  function schedule(outcome: Outcome<T>): void {
    const delayMs = outcome.kind === 'failure' ? retryDelayMs(outcome.failure, failures) : everyMs
    if (delayMs === undefined || !isVisible || closing.signal.aborted) return
    timer = setTimeout(() => void refresh(), delayMs)
  }

  function refresh(): Promise<void> {
    reading ??= readOnce()
      // Only a closed resource gets here.
      .catch(() => undefined)
      .finally(() => (reading = undefined))
    return reading
  }

  const stopWatching = whileVisible(visible => {
    isVisible = visible
    clearTimeout(timer)
    if (visible) void refresh()
  })
  return {
    state,
    refresh,
    close() {
      stopWatching()
      clearTimeout(timer)
      closing.abort()
    },
  }
}
