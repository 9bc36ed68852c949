/** Supervises a managed server: restarts it with exponential backoff until it is closed. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import type { ServerProcess } from './server-process.ts'

export interface Supervised {
  /** Ends the server. It may be called twice. */
  stop(): Promise<void>
  /** Ends the current process, after which another one is started. */
  restart(): Promise<void>
}

export interface SuperviseOptions {
  name: string
  /** A running process. Without it the supervisor starts the first one. */
  first?: ServerProcess
  start: () => ServerProcess
  log: Log
  /** Longest pause before a restart. Default: 10 seconds. */
  delayMsMax?: number
  /** Called with the reason when the server ends without a request. */
  onEnd?: (reason: string) => void
}

const delayMsMin = 200
const delayMsMaxUsual = 10_000
/** After this uptime the next restart uses the shortest pause. */
const steadyMs = 60_000

export function supervise(options: SuperviseOptions): Supervised {
  const { name, delayMsMax = delayMsMaxUsual } = options
  const stopping = new AbortController()
  let current = options.first ?? tryStart(options)

  async function watch(): Promise<void> {
    let delayMs = delayMsMin
    while (!stopping.signal.aborted) {
      const startedMs = performance.now()
      const reason = current instanceof Error ? current.message : `${name} has ended (${await current.exited})`
      if (stopping.signal.aborted) return
      if (performance.now() - startedMs > steadyMs) delayMs = delayMsMin
      options.log.warn({ reason, delayMs }, `restarting ${name}`)
      options.onEnd?.(reason)
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      delayMs = Math.min(delayMs * 2, delayMsMax)
      if (!stopping.signal.aborted) current = tryStart(options)
    }
  }

  const watched = watch()
  return {
    async stop() {
      stopping.abort()
      if (!(current instanceof Error)) await current.stop()
      await watched
    },
    async restart() {
      if (!(current instanceof Error)) await current.stop()
    },
  }
}

/** A start can fail before a process exists, for instance on a full disk. The next one may succeed. */
function tryStart({ name, start }: SuperviseOptions): ServerProcess | Error {
  try {
    return start()
  } catch (error) {
    return new Error(`${name} could not be started: ${error instanceof Error ? error.message : String(error)}`)
  }
}
