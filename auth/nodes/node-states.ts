/** States of this node and of the others. */

import type { Log } from '../../store/log.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Lease } from './leadership.ts'
import type { Node, NodeRow, NodeSettings, RenewedLease } from './node-rows.ts'
import { createClockLog, type ForwardStep, type PostgresClock } from './postgres-clock.ts'
import { advisedFault, differentAdvised } from './settings-differ.ts'

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

interface OwnStateOptions {
  node: Node
  lease: Lease
  clock: PostgresClock
  step: ForwardStep
  log: Pick<Log, 'info' | 'warn'>
}

export interface OwnState {
  /** Row of the node for each renewal of the lease. */
  row(): NodeRow
  /** The statement began at `startMs`. */
  renewed(startMs: number, lease: RenewedLease): void
  read(more: Pick<NodeState, 'applied' | 'leads'>): NodeState
  /** Number of other nodes that took requests at the last renewal. */
  others(): number
}

export function createOwnState({ node, lease, clock, step, log }: OwnStateOptions): OwnState {
  const startedMs = Date.now()
  const { id, role, version, host } = node
  const logClock = createClockLog(log)
  let others = 0
  let differing: readonly string[] = []

  function clockAheadMs(): number | undefined {
    const postgresMs = clock.nowMs()
    return postgresMs === undefined ? undefined : Date.now() - postgresMs
  }

  function noteDiffering(names: readonly string[]): void {
    const isSame = names.join() === differing.join()
    differing = names
    if (isSame) return
    const fault = advisedFault(names)
    if (fault === undefined) log.info({}, 'all nodes have the same settings')
    else log.warn({ settings: names }, fault)
  }

  return {
    row: () => ({ ...node, clockAheadMs: clockAheadMs() }),
    renewed(startMs, renewed) {
      clock.note(startMs, renewed.postgresMs)
      step.note(startMs, renewed.postgresMs)
      others = renewed.others
      noteDiffering(differentAdvised(node.advised, renewed.differing))
      logClock(clockAheadMs())
    },
    others: () => others,
    read: more => ({
      id,
      role,
      version,
      host,
      startedMs,
      isLeaseValid: lease.isValid(),
      leaseAgeMs: lease.ageMs(),
      clockAheadMs: clockAheadMs(),
      differing,
      ...more,
    }),
  }
}
