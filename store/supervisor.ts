/** Keeps a server that we have started running: starts it again, with growing pauses, until it is told to stop. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from './log.ts'
import { type ServerProcess, type StopStep, signalGroup, stopGroup } from './server-process.ts'

export interface Supervised {
  /** Ends the server; may be called twice. */
  stop(): Promise<void>
}

export interface SuperviseOptions {
  name: string
  first: ServerProcess
  start: () => ServerProcess
  stopSteps: readonly [StopStep, ...StopStep[]]
  log: Log
  /** Told how the server ended when nobody had asked it to. */
  onEnd?: (how: string) => void
}

const delayMsMin = 200
const delayMsMax = 10_000
/** A server that has run for so long starts again at the shortest pause. */
const steadyMs = 60_000

export function supervise(options: SuperviseOptions): Supervised {
  const { name, stopSteps } = options
  const stopping = new AbortController()
  let current: ServerProcess | undefined = options.first

  async function watch(): Promise<void> {
    let delayMs = delayMsMin
    while (!stopping.signal.aborted) {
      const startedMs = performance.now()
      const how = current === undefined ? 'it could not be started' : await current.exited
      if (stopping.signal.aborted) return
      if (performance.now() - startedMs > steadyMs) delayMs = delayMsMin
      options.log.warn({ how, delayMs }, `${name} has ended by itself and is started again`)
      options.onEnd?.(how)
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      delayMs = Math.min(delayMs * 2, delayMsMax)
      if (!stopping.signal.aborted) current = startAgain(options)
    }
  }

  // When we end without a stop, by a fault of ours, the server is at least asked to end too.
  const atExit = (): void => {
    if (current !== undefined && current.ended() === undefined) signalGroup(current.pid, stopSteps[0].signal)
  }
  process.once('exit', atExit)
  const watched = watch()
  return {
    async stop() {
      stopping.abort()
      if (current !== undefined && current.ended() === undefined) {
        await stopGroup(current.pid, stopSteps)
        await current.waitForEnd()
      }
      await watched
      process.removeListener('exit', atExit)
    },
  }
}

/** A start can fail before there is a process, for instance on a full disk; the next one may not. */
function startAgain({ name, start, log }: SuperviseOptions): ServerProcess | undefined {
  try {
    return start()
  } catch (error) {
    log.error({ err: error }, `${name} could not be started`)
    return undefined
  }
}
