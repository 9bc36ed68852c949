/** Copies in a thread of its own, behind everything else, for it reads whole databases. */

import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../store/thread-priority.ts'
import { Copy, type CopyStep } from './copy.ts'

export interface CopyThreadData {
  target: string
  steps: CopyStep[]
  /** How many bytes are copied so far. */
  bytes: BigInt64Array
}

const { target, steps, bytes }: CopyThreadData = workerData
lowerThreadPriority()
const copy = new Copy(target, count => void Atomics.add(bytes, 0, BigInt(count)))
for (const step of steps) copy.run(step)
copy.sync()
parentPort?.postMessage(copy.entries)
