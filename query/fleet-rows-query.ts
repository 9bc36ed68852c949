/** Asks a worker for rows of the fleet. */

import { unpackRows } from './answers/fleet-rows.ts'
import type { AvailabilityLog } from './availability-log.ts'
import type { Pool } from './pool.ts'
import type { FleetQueries, LightQueries } from './task.ts'

type FleetRows = { readonly ok: true; readonly rows: Float64Array } | { readonly ok: false; readonly code: string }

export type AskFleetRows = <Name extends keyof FleetQueries>(
  name: Name,
  query: FleetQueries[Name],
  signal: AbortSignal,
) => Promise<FleetRows>

interface FleetRowsOptions {
  readonly pool: Pool<LightQueries>
  readonly logAvailability: AvailabilityLog
  readonly questdbAnswers: () => boolean | Promise<boolean>
}

export function createFleetRows({ pool, logAvailability, questdbAnswers }: FleetRowsOptions): AskFleetRows {
  return async (name, query, signal) => {
    if (!(await questdbAnswers())) return { ok: false, code: 'DATABASE_AWAY' }
    const result = await pool.run(name, query as LightQueries[typeof name], signal)
    logAvailability(result)
    if (!result.ok) return result
    if (!('bytes' in result.encoded)) throw new Error('rows of the fleet are packed')
    return { ok: true, rows: unpackRows(result.encoded.bytes) }
  }
}
