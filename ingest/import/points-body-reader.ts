/** Reads bodies of points: small ones directly, larger ones in a thread, since their bytes are arbitrary. */

import { Piscina } from 'piscina'
import { threadLimits } from '../../store/thread-limits.ts'
import { idleMsMax } from './import-pool.ts'
import { type PointsBody, type PointsBodyTask, readPointsBody } from './points-body.ts'

export interface PointsBodyReader {
  /** `busy` when too many bodies wait. */
  read(task: PointsBodyTask): Promise<PointsBody | 'busy'>
  close(): Promise<void>
}

/** A body of this size is read within a millisecond or two, faster than passing it to a thread and back. */
const bytesAtOnceMax = 16 * 1024
/** Bodies of a few megabytes at most. */
const waitingMax = 64
const threadsMax = 1

export function createPointsBodyReader(): PointsBodyReader {
  const pool = new Piscina({
    filename: new URL('./points-body-worker.ts', import.meta.url).href,
    name: 'read',
    minThreads: 0,
    maxThreads: threadsMax,
    maxQueue: waitingMax,
    idleTimeout: idleMsMax,
    resourceLimits: threadLimits.readingsImport,
  })
  return {
    async read(task) {
      if (task.body.length <= bytesAtOnceMax) return readPointsBody(task)
      if (pool.queueSize >= waitingMax) return 'busy'
      return await pool.run(task)
    },
    close: () => pool.destroy(),
  }
}
