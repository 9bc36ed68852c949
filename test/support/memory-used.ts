/** Memory of the process without garbage. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of the heap after a collection. Array buffers are excluded, since their memory is freed later. */
export function memoryUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>
  collect()
  return process.memoryUsage().heapUsed
}
