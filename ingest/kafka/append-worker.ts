/** The journal's thread for a topic, as its owner sees it. */

import { Worker } from 'node:worker_threads'
import { threadLimits } from '../../store/thread-limits.ts'
import { type JournalThread, type JournalThreadHooks, threadHandle } from '../journal/journal-worker.ts'
import type { AppendThreadData } from './append-data.ts'

export function startAppendThread(workerData: AppendThreadData, hooks: JournalThreadHooks): JournalThread {
  const worker = new Worker(new URL('./append-thread.ts', import.meta.url), {
    name: 'journal',
    workerData,
    resourceLimits: threadLimits.topicJournal,
  })
  return threadHandle(worker, workerData.shared, hooks)
}
