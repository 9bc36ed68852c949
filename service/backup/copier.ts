/** Controls the copying thread. */

import { Worker } from 'node:worker_threads'
import { threadLimits } from '../../store/thread-limits.ts'
import { BackupError } from './backup-parts.ts'
import type { CopyStep, FileEntry } from './copy.ts'
import type { CopyThreadData, CopyThreadMessage } from './copy-thread.ts'

export interface Copier {
  /** Resolves when all of it is on disk. */
  copy(steps: CopyStep[]): Promise<FileEntry[]>
}

export interface CopierOptions {
  target: string
  /** Free space to leave on the target's disk. */
  leaveBytes: number
  /** Aborts a copy at once. */
  signal: AbortSignal
  /** Counts copied bytes in shared memory. */
  bytes: BigInt64Array
}

export function createCopier({ target, leaveBytes, signal, bytes }: CopierOptions): Copier {
  async function copy(steps: CopyStep[]): Promise<FileEntry[]> {
    signal.throwIfAborted()
    const workerData: CopyThreadData = { target, steps, leaveBytes, bytes }
    const resourceLimits = threadLimits.copies
    const worker = new Worker(new URL('./copy-thread.ts', import.meta.url), { workerData, resourceLimits })
    const end = () => void worker.terminate()
    signal.addEventListener('abort', end, { once: true })
    try {
      return await new Promise((resolve, reject) => {
        worker.once('message', (message: CopyThreadMessage) => {
          if ('entries' in message) resolve(message.entries)
          else reject(new BackupError(message.refusal))
        })
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
