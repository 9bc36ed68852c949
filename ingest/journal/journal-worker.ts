/** The journal's thread as its owner sees it. A test puts another one in its place, whose time and disk it holds. */

import { Worker } from 'node:worker_threads'
import { threadLimits } from '../../store/thread-limits.ts'
import {
  command,
  controlAt,
  type JournalShared,
  type JournalThreadData,
  type JournalThreadMessage,
} from './journal-shared.ts'

export interface JournalThread {
  /** Hands over the slot that `control` names. `term`: of the medium when its first record came, or of now where it has none. */
  commit(term: number): void
  /** Resolves when the thread is gone; nothing may be in flight. */
  stop(): Promise<void>
}

export interface JournalThreadHooks {
  onMessage: (message: JournalThreadMessage) => void
  onError: (error: Error) => void
}

export function startJournalThread(workerData: JournalThreadData, hooks: JournalThreadHooks): JournalThread {
  const worker = new Worker(new URL('./journal-thread.ts', import.meta.url), {
    name: 'journal',
    workerData,
    resourceLimits: threadLimits.journal,
  })
  return threadHandle(worker, workerData.shared, hooks)
}

/** Of a thread that sleeps on `command` and answers with messages. */
export function threadHandle(
  worker: Worker,
  { control }: Pick<JournalShared, 'control'>,
  hooks: JournalThreadHooks,
): JournalThread {
  let mayEnd = false
  worker.on('message', hooks.onMessage)
  worker.on('error', error => {
    mayEnd = true
    hooks.onError(error)
  })
  // Registered now, as the thread may end before stop().
  const exited = new Promise<void>(resolve => {
    worker.once('exit', status => {
      if (!mayEnd) hooks.onError(new Error(`the thread of the journal has ended by itself, with status ${status}`))
      resolve()
    })
  })

  function give(what: number): void {
    Atomics.store(control, controlAt.command, what)
    Atomics.notify(control, controlAt.command)
  }

  return {
    commit: () => give(command.commit),
    async stop() {
      mayEnd = true
      give(command.stop)
      await exited
    },
  }
}
