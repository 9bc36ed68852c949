/** Retries loading the state of the fleet until it succeeds, one load at a time. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { LoadFailed } from './live-load.ts'

export interface LiveLoading {
  /** Loads now, or once more after the load in progress. */
  start(): void
  /** True once a load has succeeded. */
  isLoaded(): boolean
  /** Resolves when no load is in progress. */
  idle(): Promise<void>
}

export interface LiveLoadingOptions {
  readonly load: () => Promise<void>
  readonly retryMs: number
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

export function createLiveLoading({ load, retryMs, signal, log }: LiveLoadingOptions): LiveLoading {
  let isLoaded = false
  let isWanted = false
  let loading: Promise<void> | undefined
  let lastReason: string | undefined

  async function loadOnce(): Promise<void> {
    isWanted = false
    const startMs = performance.now()
    try {
      await load()
      isLoaded = true
      lastReason = undefined
      log.info({ ms: Math.round(performance.now() - startMs) }, 'state of the fleet loaded')
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof LoadFailed) report(error.message)
      else log.error({ err: error }, 'the state of the fleet cannot be loaded')
      isWanted = true
      await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** The queries themselves report that QuestDB does not answer. */
  function report(reason: string): void {
    if (reason !== lastReason && reason !== 'DATABASE_AWAY') {
      log.warn({ reason }, 'the state of the fleet cannot be loaded, retrying')
    }
    lastReason = reason
  }

  async function run(): Promise<void> {
    while (isWanted && !signal.aborted) await loadOnce()
    loading = undefined
  }

  return {
    start() {
      isWanted = true
      loading ??= run()
    },
    isLoaded: () => isLoaded,
    idle: () => loading ?? Promise.resolve(),
  }
}
