/** A node of the service, as `GET /status` tells of it. */

import { type NodeState, shortNodeId } from '../../auth/nodes/node-states.ts'
import type { NodeStatus } from './status-answer.ts'

/** Sessions and times in PostgreSQL are compared with the clock of the node; some of that forgives no more than seconds. */
const clockApartMsMax = 2_000

export function nodeStatus(state: NodeState, ownId: string): NodeStatus {
  const { id, role, version, host, startedMs, isLeaseValid, leaseAgeMs, applied, clockAheadMs, leads } = state
  return {
    id: shortNodeId(id),
    is_self: id === ownId,
    role,
    version,
    host,
    started: new Date(startedMs).toISOString(),
    leads: leads && isLeaseValid,
    lease_valid: isLeaseValid,
    lease_age_s: Number.isFinite(leaseAgeMs) ? leaseAgeMs / 1000 : null,
    applied_change: applied,
    clock_ahead_s: clockAheadMs === undefined ? null : clockAheadMs / 1000,
    problems: problemsOf(state),
  }
}

function problemsOf({ isLeaseValid, clockAheadMs = 0 }: NodeState): string[] {
  if (!isLeaseValid) return ['its lease has expired: it has ended without a word, or PostgreSQL does not answer it']
  if (Math.abs(clockAheadMs) <= clockApartMsMax) return []
  const seconds = (Math.abs(clockAheadMs) / 1000).toFixed(1)
  return [`its clock is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} that of PostgreSQL`]
}
