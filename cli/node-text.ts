/** The nodes of a service, as the server's status tells of them. */

import type { NodeStatus, Status } from '../api/admin/status-answer.ts'

export function nodeText({ role, host, version, is_self, ...told }: NodeStatus): string {
  const { leads, lease_valid, lease_age_s, applied_change, clock_ahead_s } = told
  const renewed = lease_age_s === null ? 'no lease' : `lease renewed ${lease_age_s.toFixed(1)} s ago`
  const parts = [
    `${role} on ${host}`,
    version,
    is_self ? 'asked' : undefined,
    leads ? 'leads' : undefined,
    lease_valid || lease_age_s === null ? renewed : `${renewed}, expired`,
    `change ${applied_change}`,
    clock_ahead_s === null ? undefined : clockText(clock_ahead_s),
  ]
  return parts.filter(part => part !== undefined).join(', ')
}

/** To the hundredth of a second; what is measured is not more exact. */
function clockText(aheadSeconds: number): string {
  const seconds = Math.abs(aheadSeconds).toFixed(2)
  return seconds === '0.00'
    ? 'clock agrees with PostgreSQL'
    : `clock ${seconds} s ${aheadSeconds > 0 ? 'ahead' : 'behind'}`
}

export function nodeProblemsOf(nodes: Status['nodes'] = []): string[] {
  return nodes.flatMap(({ id, problems }) => problems.map(problem => `node ${id}: ${problem}`))
}
