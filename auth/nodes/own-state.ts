/** Holds a node's own state and the number of other nodes in memory. */

import type { Log } from '../../store/log.ts'
import { createClockLog } from './clock-fault.ts'
import type { Lease } from './lease.ts'
import type { Node, NodeRow, RenewedLease } from './node-rows.ts'
import type { NodeState } from './node-states.ts'
import type { ForwardStep, PostgresClock } from './postgres-clock.ts'
import { advisedFault, differentAdvised } from './settings-differ.ts'

export interface OwnStateOptions {
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
