/** Lists the nodes of a service for operators. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { NodeSettings } from './node-rows.ts'
import { differentAdvised } from './settings-differ.ts'

export interface NodeState {
  id: string
  role: string
  version: string
  host: string
  startedMs: number
  isLeaseValid: boolean
  /** Time since the renewal. */
  leaseAgeMs: number
  /** Number of the last applied change. */
  applied: number
  /** Undefined until it was measured. */
  clockAheadMs: number | undefined
  leads: boolean
  /** Settings that should be the same and differ from the asked node's, or for the asked node from any other's. */
  differing: readonly string[]
}

interface NodeStateRow {
  id: string
  role: string
  version: string
  host: string
  started_ms: number
  left_ms: number
  applied: number
  clock_ahead_ms: number | null
  leads: boolean
  advised: NodeSettings
}

/** A node that ended without leaving is listed for this time. */
const goneMsMax = 600_000
const nodesMax = 100

/** Ordered by start. All leases have the same length. */
export async function readNodeStates(
  database: Transaction,
  leaseMs: number,
  advised: NodeSettings,
): Promise<NodeState[]> {
  const { rows } = await database.query<NodeStateRow>(
    `SELECT id, role, version, host, applied::float8 AS applied, clock_ahead_ms, advised,
       leads_since IS NOT NULL AND expires_at > clock_timestamp() AS leads,
       (date_part('epoch', started_at) * 1000)::float8 AS started_ms,
       (date_part('epoch', expires_at - clock_timestamp()) * 1000)::float8 AS left_ms
     FROM nodes WHERE expires_at > clock_timestamp() - $1::float8 * interval '1 ms'
     ORDER BY started_at DESC, id LIMIT $2`,
    [goneMsMax, nodesMax],
  )
  return rows.reverse().map(({ started_ms, left_ms, clock_ahead_ms, advised: other, ...rest }) => ({
    ...rest,
    startedMs: started_ms,
    isLeaseValid: left_ms > 0,
    leaseAgeMs: Math.max(0, leaseMs - left_ms),
    clockAheadMs: clock_ahead_ms ?? undefined,
    differing: differentAdvised(advised, [other]),
  }))
}

/** Eight digits distinguish all nodes of a service. */
export const shortNodeId = (id: string): string => id.slice(0, 8)
