/** Copies in a thread of its own, behind everything else, for it reads whole databases. */

import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { BackupError } from './backup-error.ts'
import { Copy, type CopyStep, type FileEntry } from './copy.ts'

export interface CopyThreadData {
  target: string
  steps: CopyStep[]
  /** So much is left free on the target's disk. */
  leaveBytes: number
  /** How many bytes are copied so far. */
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
  // The class of an error does not come through to the other thread.
  if (!(error instanceof BackupError)) throw error
  parentPort?.postMessage({ refusal: error.message })
}
