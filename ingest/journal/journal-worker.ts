/** The journal's thread as its owner sees it. A test replaces it with one whose time and disk it controls. */

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
  /**
   * Passes on the slot that `control` names. `term`: the medium's term when its first record arrived, or the current one without
   * records.
   */
  commit(term: number): void
  /** Resolves when the thread has ended. Nothing may be in flight. */
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

/** Handle of a thread that sleeps on `command` and answers with messages. */
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
      if (!mayEnd) hooks.onError(new Error(`the journal's thread ended unexpectedly, with status ${status}`))
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
