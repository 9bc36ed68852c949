/** Requests of the processor-time benches in two sizes. */

import { bodiesOf, bulkTargetOf, postAll } from './bulk-load.ts'
import type { FleetPlan } from './fleet.ts'
import { type BulkFormat, bulkFormats } from './ingest-formats.ts'
import { assertAllTaken, type Hooks, runLoad, startProcess, stopProcess } from './measure.ts'
import type { BenchService } from './service.ts'

export interface Receiver {
  service: BenchService
  /** One key per connection, for bulk bodies. */
  keys: readonly string[]
}

/** Resolves with the number of acknowledged readings. `share` 1 is the larger size. */
export type Send = (to: Receiver, share: number) => Promise<number>

export const bulkConnectionCount = 4
const connections = 64
const rowsPerBody = 10_000
const stepMs = 60_000

/** Single readings for so long. */
export async function createSingleSend(hooks: Hooks, seconds: number): Promise<Send> {
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  return async ({ service: { port, requests } }, share) => {
    const order = { host: '127.0.0.1', port, connections, seconds: share * seconds, requests }
    const result = await runLoad(generator, order)
    assertAllTaken(result)
    return result.answers
  }
}

/** Bodies of line protocol. Each run is later than its predecessors. */
export function createBulkSend({ rows, deviceCount }: { rows: number; deviceCount: number }, runs: number): Send {
  const format = bulkFormats['line-protocol'] as BulkFormat
  const runsMs = Math.ceil(rows / deviceCount) * stepMs
  let endMs = Math.floor(Date.now() / stepMs) * stepMs - runs * runsMs
  return async ({ service: { port }, keys }, share) => {
    const startMs = endMs
    endMs += runsMs
    const plan: FleetPlan = {
      devices: deviceCount,
      rows: Math.ceil(share * rows),
      seed: 1,
      order: 'time',
      startMs,
      endMs,
    }
    await postAll(bulkTargetOf(port, keys, format), bodiesOf(plan, rowsPerBody, format.body))
    return plan.rows
  }
}
