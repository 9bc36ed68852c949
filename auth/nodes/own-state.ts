/** What a node knows of itself and how many others there are, from memory. */

import type { Log } from '../../store/log.ts'
import { createClockLog } from './clock-fault.ts'
import type { Lease } from './lease.ts'
import type { Node, NodeTold, RenewedLease } from './node-rows.ts'
import type { NodeState } from './node-states.ts'
import type { PostgresClock } from './postgres-clock.ts'

export interface OwnStateOptions {
  node: Node
  lease: Lease
  clock: PostgresClock
  /** Whether this node does what one does for all. */
  leads: () => boolean
  log: Pick<Log, 'info' | 'warn'>
}

export interface OwnState {
  /** What it writes to its row with each renewal of the lease. */
  told(): NodeTold
  /** By a statement that began at `startMs`. */
  renewed(startMs: number, lease: RenewedLease): void
  read(applied: number): NodeState
  /** How many other nodes took requests when the lease was renewed. */
  others(): number
}

export function createOwnState({ node, lease, clock, leads, log }: OwnStateOptions): OwnState {
  const startedMs = Date.now()
  const { id, role, version, host } = node
  const tellClock = createClockLog(log)
  let others = 0

  function told(): NodeTold {
    const postgresMs = clock.nowMs()
    return { clockAheadMs: postgresMs === undefined ? undefined : Date.now() - postgresMs, leads: leads() }
  }

  return {
    told,
    renewed(startMs, renewed) {
      clock.note(startMs, renewed.postgresMs)
      others = renewed.others
      tellClock(told().clockAheadMs)
    },
    others: () => others,
    read: applied => ({
      id,
      role,
      version,
      host,
      startedMs,
      isLeaseValid: lease.isValid(),
      leaseAgeMs: lease.ageMs(),
      applied,
      ...told(),
    }),
  }
}
