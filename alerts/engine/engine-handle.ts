/** The engine's thread as its owner sees it. */

import { Worker } from 'node:worker_threads'
import { threadLimits } from '../../store/thread-limits.ts'
import type { EngineCommand, EngineMessage } from './engine.ts'

export interface EngineHandle {
  /** Its buffers are handed over. */
  post(command: EngineCommand): void
  /** Resolves when all that was posted before has been done, or the thread has ended. */
  settled(): Promise<void>
  stop(): Promise<void>
}

export interface EngineHandleOptions {
  readonly onMessage: (message: EngineMessage) => void
  /** It has died. */
  readonly onError: (error: Error) => void
}

export function startEngineThread({ onMessage, onError }: EngineHandleOptions): EngineHandle {
  const thread = new Worker(new URL('./engine-thread.ts', import.meta.url), {
    name: 'alerts',
    resourceLimits: threadLimits.alerts,
  })
  const pings = new Map<number, () => void>()
  let pingCount = 0
  thread.on('message', (message: EngineMessage) => {
    if (message.kind !== 'pong') return onMessage(message)
    pings.get(message.id)?.()
    pings.delete(message.id)
  })
  thread.on('error', onError)
  // Registered early, for the thread may die long before the stop.
  const exited = new Promise<void>(resolve => thread.once('exit', () => resolve()))
  const post = (command: EngineCommand) => thread.postMessage(command, buffersOf(command))
  return {
    post,
    settled() {
      const id = pingCount++
      const done = new Promise<void>(resolve => pings.set(id, resolve))
      post({ kind: 'ping', id })
      return Promise.race([done, exited])
    },
    async stop() {
      post({ kind: 'stop' })
      await exited
    },
  }
}

function buffersOf(command: EngineCommand): ArrayBuffer[] {
  if (command.kind !== 'readings' && command.kind !== 'replay') return []
  return [command.packed.buffer]
}
