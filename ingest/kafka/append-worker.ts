/** The journal's thread for a topic, as its owner sees it. */

import { Worker } from 'node:worker_threads'
import { threadLimits } from '../../store/thread-limits.ts'
import { type JournalThread, type JournalThreadHooks, threadHandle } from '../journal/journal-worker.ts'
import type { AppendThreadData } from './append-data.ts'

/**
 * Starts the thread with the first group. Loading Kafka's client takes 0.7 s of processor time, which delays the start of a service
 * on busy cores.
 */
export function startAppendThreadLate(workerData: AppendThreadData, hooks: JournalThreadHooks): JournalThread {
  let thread: JournalThread | undefined
  return {
    commit(term) {
      thread ??= startAppendThread(workerData, hooks)
      thread.commit(term)
    },
    stop: async () => await thread?.stop(),
  }
}

export function startAppendThread(workerData: AppendThreadData, hooks: JournalThreadHooks): JournalThread {
  const worker = new Worker(new URL('./append-thread.ts', import.meta.url), {
    name: 'journal',
    workerData,
    resourceLimits: threadLimits.topicJournal,
  })
  return threadHandle(worker, workerData.shared, hooks)
}
