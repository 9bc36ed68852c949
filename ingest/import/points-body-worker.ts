/** The thread that reads large bodies of points. It keeps no state between two calls. */

import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { type PointsBody, type PointsBodyTask, readPointsBody } from './points-body.ts'

// On a machine with few processors a bulk body gives way to single readings.
lowerThreadPriority('below normal')

export function read(task: PointsBodyTask): PointsBody {
  return readPointsBody(task)
}
