/** A node of the service, as `GET /status` tells of it. */

import { clockFault } from '../../auth/nodes/clock-fault.ts'
import { type NodeState, shortNodeId } from '../../auth/nodes/node-states.ts'
import type { NodeStatus } from './status-answer.ts'

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

function problemsOf({ isLeaseValid, clockAheadMs }: NodeState): string[] {
  if (!isLeaseValid) return ['its lease has expired: it has ended without a word, or PostgreSQL does not answer it']
  const fault = clockFault(clockAheadMs)
  return fault === undefined ? [] : [fault]
}
