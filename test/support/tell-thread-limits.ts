/** Loaded into a service before its own code (`--import`): writes how large the heap of each thread may get. */

import { isMainThread, type Worker } from 'node:worker_threads'

async function tell(thread: Worker): Promise<void> {
  const { heap_size_limit: bytes } = await thread.getHeapStatistics()
  process.stdout.write(`${JSON.stringify({ heapBytesMax: bytes, limits: thread.resourceLimits })}\n`)
}

if (isMainThread) process.on('worker', thread => thread.once('online', () => void tell(thread)))
