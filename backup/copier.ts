/** The copying thread as its owner sees it. */

import { Worker } from 'node:worker_threads'
import { threadLimits } from '../store/thread-limits.ts'
import type { CopyStep, FileEntry } from './copy.ts'
import type { CopyThreadData } from './copy-thread.ts'

export interface Copier {
  /** Resolves when all of it is on the disk. */
  copy(steps: CopyStep[]): Promise<FileEntry[]>
}

/** `signal` ends a copy at once; `bytes`, in shared memory, counts what is copied. */
export function createCopier(target: string, signal: AbortSignal, bytes: BigInt64Array): Copier {
  async function copy(steps: CopyStep[]): Promise<FileEntry[]> {
    signal.throwIfAborted()
    const workerData: CopyThreadData = { target, steps, bytes }
    const resourceLimits = threadLimits.copies
    const worker = new Worker(new URL('./copy-thread.ts', import.meta.url), { workerData, resourceLimits })
    const end = () => void worker.terminate()
    signal.addEventListener('abort', end, { once: true })
    try {
      return await new Promise((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
        worker.once('exit', () => reject(signal.reason ?? new Error('the copying thread has ended')))
      })
    } finally {
      signal.removeEventListener('abort', end)
      await worker.terminate()
    }
  }

  return { copy }
}
