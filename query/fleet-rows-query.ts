/** Asks a worker for rows of the fleet. */

import { unpackRows } from './answers/fleet-rows.ts'
import type { AvailabilityLog } from './availability-log.ts'
import type { Pool } from './pool.ts'
import type { FleetQueries, Queries } from './queries.ts'
import { type Replicas, runOnReplica } from './replicas.ts'

type FleetRows = { readonly ok: true; readonly rows: Float64Array } | { readonly ok: false; readonly code: string }

export type AskFleetRows = <Name extends keyof FleetQueries>(
  name: Name,
  query: FleetQueries[Name],
  signal: AbortSignal,
) => Promise<FleetRows>

interface FleetRowsOptions {
  readonly pool: Pool<Queries>
  readonly replicas: Replicas
  readonly logAvailability: AvailabilityLog
}

export function createFleetRows({ pool, replicas, logAvailability }: FleetRowsOptions): AskFleetRows {
  return async (name, query, signal) => {
    const result = await runOnReplica(
      { pool, replicas },
      name,
      hourSources => ({ ...query, hourSources }) as unknown as Queries[typeof name],
      signal,
    )
    logAvailability(result)
    if (!result.ok) return { ok: false, code: result.code }
    if (!('bytes' in result.encoded)) throw new Error('unpacked rows of the fleet')
    return { ok: true, rows: unpackRows(result.encoded.bytes) }
  }
}
