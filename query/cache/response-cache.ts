/**
 * Decides for all queries whether a cached answer is fresh, stale or too old. A fresh one is served as it is, a stale
 * one is served while the next one is built. When building fails, the cached one is served.
 */

import type { Log } from '../../store/log.ts'
import type { QueryLimits } from '../limits.ts'
import { type Answer, type AnswerCode, answerOf, type CacheEntry } from './body.ts'
import type { BodyCache } from './body-cache.ts'

export type Built =
  | { readonly ok: true; readonly body: CacheEntry['body'] }
  | { readonly ok: false; readonly code: Exclude<AnswerCode, 'TOO_LARGE'> }

export interface CachedQuery {
  readonly key: string
  /**
   * The inputs of the answer, read before it is built: an answer of the same version is right, however old. Undefined
   * means that the cache cannot know.
   */
  readonly version: string | undefined
  /** An answer that is younger is served as it is. */
  readonly freshMs: number
  /** An answer that is younger is served, and the next one is built in the background. */
  readonly staleMs: number
  /** The time for which a client may use an answer that is served as it is. */
  readonly maxAgeSeconds: (ageMs: number) => number
  readonly build: (askedAtMs: number, signal: AbortSignal) => Promise<Built>
  /** Aborts when the client has left. Without it an answer is built to its end. */
  readonly client?: AbortSignal | undefined
}

export type Serve = (query: CachedQuery) => Answer | Promise<Answer>

export interface ResponseCacheOptions {
  readonly cache: Pick<BodyCache, 'get' | 'set' | 'count'>
  readonly now: () => number
  readonly limits: Pick<QueryLimits, 'retryMs'>
  readonly log: Pick<Log, 'error'>
}

type Result = { readonly ok: true; readonly entry: CacheEntry } | Extract<Built, { ok: false }>

export function createResponseCache({ cache, now, limits, log }: ResponseCacheOptions): Serve {
  const builds = createSingleFlight<Result>()
  /** Keys whose next answer is being built in the background. */
  const refreshing = new Set<string>()

  function serve(query: CachedQuery): Answer | Promise<Answer> {
    const entry = cache.get(query.key)
    const cached = entry === undefined ? undefined : serveCached(query, entry)
    cache.count(cached !== undefined)
    return cached ?? wait(query, query.client)
  }

  /** Undefined when the entry is too old to be served. */
  function serveCached(query: CachedQuery, entry: CacheEntry): Answer | undefined {
    const ageMs = ageOf(entry)
    const isRight = query.version !== undefined && entry.version === query.version
    if (isRight || ageMs < query.freshMs) return answerOf(entry, query.maxAgeSeconds(ageMs), now())
    if (!isPausing(entry)) {
      if (ageMs >= query.staleMs) return undefined
      refresh(query)
    }
    return answerOf(entry, 0, now())
  }

  async function wait(query: CachedQuery, client: AbortSignal | undefined): Promise<Answer> {
    const { key, version, maxAgeSeconds } = query
    const result = await builds.run(`${key}@${version}`, signal => build(query, signal), client)
    if (result.ok) return answerOf(result.entry, maxAgeSeconds(ageOf(result.entry)), now())
    const entry = cache.get(key)
    return entry === undefined ? result : answerOf(entry, 0, now())
  }

  /** Every later client uses the result, so no client's departure stops it. */
  function refresh(query: CachedQuery): void {
    const { key } = query
    if (refreshing.has(key)) return
    refreshing.add(key)
    wait(query, undefined)
      .catch((error: unknown) => log.error({ err: error, key }, 'could not compute a response'))
      .finally(() => refreshing.delete(key))
  }

  async function build(query: CachedQuery, signal: AbortSignal): Promise<Result> {
    const { key, version } = query
    const askedAtMs = now()
    const before = cache.get(key)
    const built = await query.build(askedAtMs, signal)
    const entry = cache.get(key)
    if (built.ok) {
      const next: CacheEntry = { body: built.body, askedAtMs, version }
      // Another build, for a later version, may have been quicker.
      const isSuperseded = entry !== undefined && entry !== before && entry.askedAtMs > askedAtMs
      if (!isSuperseded) cache.set(key, next)
      return { ok: true, entry: next }
    }
    if (entry !== undefined && built.code !== 'CANCELLED') {
      cache.set(key, { ...entry, retryAtMs: now() + limits.retryMs })
    }
    return built
  }

  /** An age is unknown after the clock was set back. */
  function ageOf(entry: CacheEntry): number {
    const ageMs = now() - entry.askedAtMs
    return ageMs < 0 ? Number.POSITIVE_INFINITY : ageMs
  }

  /** After a failure the next attempt waits a little. */
  function isPausing({ retryAtMs = 0 }: CacheEntry): boolean {
    const waitMs = retryAtMs - now()
    return waitMs > 0 && waitMs <= limits.retryMs
  }

  return serve
}

interface SingleFlight<T> {
  /**
   * Waits for the call with this key, or starts it. A client that leaves stops waiting, and a call without waiting
   * clients is aborted. Without a client the call runs to its end.
   */
  run(key: string, start: (signal: AbortSignal) => Promise<T>, client?: AbortSignal): Promise<T>
}

interface Call<T> {
  readonly result: Promise<T>
  readonly stopping: AbortController
  waiters: number
}

/** Single flight: callers with the same key wait for the same result. */
function createSingleFlight<T>(): SingleFlight<T> {
  const calls = new Map<string, Call<T>>()

  function run(key: string, start: (signal: AbortSignal) => Promise<T>, client?: AbortSignal): Promise<T> {
    const call = calls.get(key) ?? begin(key, start)
    call.waiters++
    const leave = () => {
      call.waiters--
      if (call.waiters > 0) return
      // A new waiter needs a new call from now on.
      forget(key, call)
      call.stopping.abort()
    }
    if (client?.aborted === true) leave()
    else client?.addEventListener('abort', leave, { once: true })
    return call.result
  }

  function begin(key: string, start: (signal: AbortSignal) => Promise<T>): Call<T> {
    const stopping = new AbortController()
    const call: Call<T> = {
      result: start(stopping.signal).finally(() => forget(key, call)),
      stopping,
      waiters: 0,
    }
    calls.set(key, call)
    return call
  }

  function forget(key: string, call: Call<T>): void {
    if (calls.get(key) === call) calls.delete(key)
  }

  return { run }
}
