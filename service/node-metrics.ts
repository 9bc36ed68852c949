/** What a node among others tells of itself at each scrape; a service that is alone has none of it. */

import { Gauge, type Registry } from 'prom-client'
import { shortNodeId } from '../auth/nodes/node-states.ts'
import { gauge } from '../store/metric-kinds.ts'
import type { ServiceNodes } from './open-nodes.ts'

export function addNode(registry: Registry, { count, several }: Pick<ServiceNodes, 'count' | 'several'>): void {
  if (several === undefined) return
  const { own } = several
  const { id, role, host } = own()
  const info = new Gauge({
    name: 'barograph_node_info',
    help: 'Always 1; its labels name the node.',
    labelNames: ['node', 'role', 'host'],
    registers: [registry],
  })
  info.set({ node: shortNodeId(id), role, host }, 1)
  gauge(registry, 'barograph_nodes', 'Nodes that take requests, with this one.', count)
  const lease = '1 while this node may authorize from memory.'
  gauge(registry, 'barograph_node_lease_valid', lease, () => Number(own().isLeaseValid))
  const age = 'Since the lease of this node was renewed; +Inf once it has been given up.'
  gauge(registry, 'barograph_node_lease_age_seconds', age, () => own().leaseAgeMs / 1000)
  const applied = 'Number of the last change of a registry that this node has applied.'
  gauge(registry, 'barograph_node_applied_change', applied, () => own().applied)
  const ahead = "Seconds by which the clock of this node is ahead of PostgreSQL's clock; NaN until measured."
  gauge(registry, 'barograph_node_clock_ahead_seconds', ahead, () => (own().clockAheadMs ?? Number.NaN) / 1000)
  gauge(registry, 'barograph_node_leads', '1 while this node is the leader.', () => Number(own().leads))
}
