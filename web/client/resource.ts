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

interface Shared {
  readonly resource: Resource<unknown>
  users: number
}

const opened = new Map<string, Map<unknown, Shared>>()

/**
 * Reads `url` at once; `addressOf` makes one of a path. Close it. Parts of a page that need the same answer share its
 * reads.
 */
export function openResource<T>(url: string, { everyMs, read = readJson }: ResourceOptions<T> = {}): Resource<T> {
  const key = `${everyMs} ${url}`
  const ofKey = opened.get(key) ?? new Map<unknown, Shared>()
  opened.set(key, ofKey)
  const known = ofKey.get(read)
  const shared = known ?? { resource: openAlone(url, everyMs, read), users: 0 }
  ofKey.set(read, shared)
  shared.users++
  // A part that is shown later expects a new answer where none is polled.
  if (known !== undefined && everyMs === undefined) void shared.resource.refresh()
  let isOpen = true
  return {
    ...(shared.resource as Resource<T>),
    close() {
      if (!isOpen) return
      isOpen = false
      shared.users--
      if (shared.users > 0) return
      shared.resource.close()
      ofKey.delete(read)
      if (ofKey.size === 0) opened.delete(key)
    },
  }
}

type Read<T> = NonNullable<ResourceOptions<T>['read']>

function openAlone<T>(url: string, everyMs: number | undefined, read: Read<T>): Resource<T> {
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
      // A closed resource alone rejects here.
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
