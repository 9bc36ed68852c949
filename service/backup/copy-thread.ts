/** Copies in a separate thread at low priority, because it reads whole databases. */

import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { BackupError } from './backup-parts.ts'
import { Copy, type CopyStep, type FileEntry } from './copy.ts'

export interface CopyThreadData {
  target: string
  steps: CopyStep[]
  /** Free space to leave on the target's disk. */
  leaveBytes: number
  /** Number of bytes copied so far. */
  bytes: BigInt64Array
}

export type CopyThreadMessage = { entries: FileEntry[] } | { refusal: string }

const { target, steps, leaveBytes, bytes }: CopyThreadData = workerData
lowerThreadPriority('low')
const onBytes = (count: number) => void Atomics.add(bytes, 0, BigInt(count))
const copy = new Copy(target, onBytes, leaveBytes)
try {
  for (const step of steps) copy.run(step)
  copy.sync()
  parentPort?.postMessage({ entries: copy.entries })
} catch (error) {
  // Threads do not transfer the class of an error.
  if (!(error instanceof BackupError)) throw error
  parentPort?.postMessage({ refusal: error.message })
}
