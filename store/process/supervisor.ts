/** Supervises a server that was started here: restarts it, with exponential backoff, until it is closed. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import type { ServerProcess } from './server-process.ts'

export interface Supervised {
  /** Ends the server; may be called twice. */
  stop(): Promise<void>
  /** Ends the process that runs now, after which another one is started. */
  restart(): Promise<void>
}

export interface SuperviseOptions {
  name: string
  /** A process that runs already; without it the first is started here. */
  first?: ServerProcess
  start: () => ServerProcess
  log: Log
  /** The longest pause before a restart; 10 seconds by default. */
  delayMsMax?: number
  /** Told why the server does not run although nobody had asked it to end. */
  onEnd?: (reason: string) => void
}

const delayMsMin = 200
const delayMsMaxUsual = 10_000
/** A server that has run for so long starts again at the shortest pause. */
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

/** A start can fail before there is a process, for instance on a full disk; the next one may not. */
function tryStart({ name, start }: SuperviseOptions): ServerProcess | Error {
  try {
    return start()
  } catch (error) {
    return new Error(`${name} could not be started: ${error instanceof Error ? error.message : String(error)}`)
  }
}
