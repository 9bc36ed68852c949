/** Shows the nodes of the service in `GET /status`. */

import { clockFault } from '../../auth/nodes/clock-fault.ts'
import { type NodeState, shortNodeId } from '../../auth/nodes/node-states.ts'
import { advisedFault } from '../../auth/nodes/settings-differ.ts'
import type { NodeStatus } from './status-answer.ts'

export function nodeStatuses(states: readonly NodeState[], ownId: string, nowMs: number): NodeStatus[] {
  const replaced = replacedNodes(states, nowMs)
  return states.map(state => nodeStatus(state, ownId, replaced.has(state)))
}

/** Nodes that ended without leaving and were replaced by another one. */
function replacedNodes(states: readonly NodeState[], nowMs: number): Set<NodeState> {
  const replaced = new Set<NodeState>()
  const free = states.filter(({ isLeaseValid }) => isLeaseValid)
  const ended = states.filter(({ isLeaseValid }) => !isLeaseValid)
  for (const state of ended.toSorted((one, other) => one.leaseAgeMs - other.leaseAgeMs)) {
    const at = free.findIndex(({ startedMs }) => startedMs > nowMs - state.leaseAgeMs)
    if (at < 0) continue
    free.splice(at, 1)
    replaced.add(state)
  }
  return replaced
}

function nodeStatus(state: NodeState, ownId: string, isReplaced: boolean): NodeStatus {
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
    problems: isReplaced ? [] : problemsOf(state),
  }
}

function problemsOf({ isLeaseValid, clockAheadMs, differing }: NodeState): string[] {
  if (!isLeaseValid) return ['its lease has expired: it ended without leaving, or PostgreSQL does not answer it']
  return [clockFault(clockAheadMs), advisedFault(differing)].filter(fault => fault !== undefined)
}
