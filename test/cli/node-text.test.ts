/** Nodes in words. */

import { test } from 'tap'
import { nodeStatus } from '../../api/admin/node-status.ts'
import type { NodeState } from '../../auth/nodes/node-states.ts'
import { forwarderText } from '../../cli/kafka-text.ts'
import { nodeProblemsOf, nodeText } from '../../cli/node-text.ts'

const state: NodeState = {
  id: '0123456789abcdef',
  role: 'api',
  version: '1.2.3',
  host: 'h-1',
  startedMs: 0,
  isLeaseValid: true,
  leaseAgeMs: 1_500,
  applied: 12,
  clockAheadMs: 999,
  leads: true,
}
const told = (changes: Partial<NodeState> = {}, ownId = 'another') => nodeStatus({ ...state, ...changes }, ownId)

test('a node in words', async t => {
  t.equal(nodeText(told()), 'api on h-1, 1.2.3, leads, lease renewed 1.5 s ago, change 12, clock 1.00 s ahead')
  t.equal(
    nodeText(told({ leads: false, clockAheadMs: -0.4 }, state.id)),
    'api on h-1, 1.2.3, asked, lease renewed 1.5 s ago, change 12, clock as that of PostgreSQL',
  )
  t.equal(
    nodeText(told({ isLeaseValid: false, leaseAgeMs: 70_000, clockAheadMs: undefined })),
    'api on h-1, 1.2.3, lease renewed 70.0 s ago, expired, change 12',
    'one without a lease does not lead',
  )
  t.equal(
    nodeText(told({ isLeaseValid: false, leaseAgeMs: Infinity, clockAheadMs: undefined })),
    'api on h-1, 1.2.3, no lease, change 12',
  )
})

test('what is wrong with nodes', async t => {
  const nodes = [told(), told({ clockAheadMs: -2_100 }), told({ clockAheadMs: 65_000 }), told({ isLeaseValid: false })]
  t.strictSame(nodeProblemsOf(nodes), [
    'node 01234567: the clock of this node is 2.1 s behind that of PostgreSQL',
    'node 01234567: the clock of this node is 65.0 s ahead of that of PostgreSQL',
    'node 01234567: its lease has expired: it has ended without a word, or PostgreSQL does not answer it',
  ])
  t.strictSame(nodeProblemsOf(undefined), [], 'a service that is alone')
})

test('who forwards, in words', async t => {
  const text = (forwarder: { holder: string | null; since: string | null } | null) =>
    forwarderText({ topics: [], forwarder })
  t.strictSame(text({ holder: 'h-2 17', since: '2026-01-01T00:00:00.000Z' }), [
    'process h-2 17, since 2026-01-01T00:00:00.000Z',
  ])
  t.strictSame(text({ holder: null, since: null }), ['none: the last one has given up'])
  t.strictSame(text(null), [])
  t.strictSame(forwarderText(undefined), [])
})
