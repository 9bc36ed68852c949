/** The disk, nodes, topics of Kafka and retention, as the terminal shows them. */

import t from 'tap'
import { nodeStatuses, topicStatus } from '../../api/admin/status.ts'
import type { NodeStatus } from '../../api/admin/status-answer.ts'
import type { NodeState } from '../../auth/nodes/node-states.ts'
import {
  diskText,
  isDiskFillingUp,
  nodeProblemsOf,
  nodeText,
  replicaTexts,
  retentionProblems,
  retentionText,
  topicProblemsOf,
  topicText,
} from '../../cli/status.ts'
import type { TopicState } from '../../ingest/kafka/state/watch.ts'

const gibibyte = 1024 ** 3
const noBytes = { journal_bytes: null, questdb_bytes: null, postgres_bytes: null }
const noGrowth = { growth_bytes_per_day: null, days_until_full: null }
const unknown = { path: '/data', free_bytes: 10 * gibibyte, total_bytes: 20 * gibibyte, ...noBytes, ...noGrowth }
const known = { ...unknown, journal_bytes: 1024, questdb_bytes: gibibyte, growth_bytes_per_day: gibibyte / 2 }

t.test('unknown values are shown as unknown', async t => {
  t.equal(diskText(unknown), '10.0 GiB free of 20.0 GiB at /data, growth unknown (needs four days)')
  t.notOk(isDiskFillingUp(unknown))
  t.match(diskText({ ...known, growth_bytes_per_day: -5 }), /, not growing$/)
  t.match(diskText(known), /, 512.0 MiB more per day until readings expire$/)
})

t.test('parts, growth and the days that are left', async t => {
  const text = diskText({ ...known, days_until_full: 20.7 })
  t.match(text, '/data, journals 1.0 KiB, QuestDB 1.0 GiB, 512.0 MiB more per day, full in 20 days')
  t.match(diskText({ ...known, days_until_full: 0.5 }), /full in less than a day$/)
  t.notOk(isDiskFillingUp({ ...known, days_until_full: 14 }))
  t.ok(isDiskFillingUp({ ...known, days_until_full: 13.9 }))
})

const node: NodeState = {
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
  differing: [],
}
const nodesOf = (ownId: string, ...changes: Partial<NodeState>[]) => {
  const states = changes.map(each => ({ ...node, ...each }))
  return nodeStatuses(states, ownId, 100_000)
}
const nodeOf = (changes: Partial<NodeState> = {}, ownId = 'another') => nodesOf(ownId, changes)[0] as NodeStatus

t.test('a node in words', async t => {
  t.equal(nodeText(nodeOf()), 'api on h-1, 1.2.3, leads, lease renewed 1.5 s ago, change 12, clock 1.00 s ahead')
  const own = nodeOf({ leads: false, clockAheadMs: -0.4 }, node.id)
  t.match(nodeText(own), ', asked, lease renewed 1.5 s ago, change 12, clock agrees with PostgreSQL')
  const expired = { isLeaseValid: false, clockAheadMs: undefined }
  const past = nodeText(nodeOf({ ...expired, leaseAgeMs: 70_000 }))
  t.equal(past, 'api on h-1, 1.2.3, lease renewed 70.0 s ago, expired, change 12', 'it does not lead')
  t.match(nodeText(nodeOf({ ...expired, leaseAgeMs: Infinity })), ', no lease, change 12')
})

t.test('problems of nodes', async t => {
  const changes = [
    {},
    { clockAheadMs: -2_100 },
    { clockAheadMs: 65_000 },
    { isLeaseValid: false },
    { differing: ['A', 'B'] },
  ]
  const nodes = changes.map(each => nodeOf(each))
  t.strictSame(nodeProblemsOf(nodes), [
    "node 01234567: the clock of this node is 2.1 s behind PostgreSQL's clock",
    "node 01234567: the clock of this node is 65.0 s ahead of PostgreSQL's clock",
    'node 01234567: its lease has expired: it ended without leaving, or PostgreSQL does not answer it',
    'node 01234567: nodes have different values of A, B: give all nodes the same',
  ])
  const killed = { isLeaseValid: false, leaseAgeMs: 60_000 }
  const [early, late] = [{ startedMs: 39_000 }, { startedMs: 41_000 }]
  const endedIn = (...states: Partial<NodeState>[]) => nodeProblemsOf(nodesOf('another', ...states)).length
  t.equal(endedIn(killed, early), 1, 'the other one ran already')
  t.equal(endedIn(killed, late), 0, 'it was replaced')
  t.equal(endedIn(killed, killed, early, late), 1, 'one of two was replaced')
  t.strictSame(nodeProblemsOf(undefined), [], 'a service that is alone')
})

t.test('replicas and who forwards to them, in words', async t => {
  const replica = {
    number: 1,
    is_read: true,
    state: 'up',
    reason: null,
    behind_seconds: 0,
    holder: 'h-2 17',
    since: 'then',
  }
  const other = {
    ...replica,
    number: 2,
    is_read: false,
    state: 'lost',
    reason: 'why',
    behind_seconds: 90,
    holder: null,
  }
  t.strictSame(replicaTexts({ topics: [], replicas: [replica, other] }), [
    ['replica 1', 'up, read here, process h-2 17 forwards to it since then'],
    ['replica 2', 'lost: why, 1 min 30 s behind, no process forwards to it'],
  ])
  t.strictSame(replicaTexts(undefined), [])
})

const sight = {
  start: 100,
  end: 150,
  applied: 140,
  oldestMs: Date.UTC(2026, 0, 1),
  unforwarded: [],
  replicas: 3,
  inSync: 2,
  retentionMs: 604_800_000,
  weaknesses: [],
}
const problem = { kind: 'underReplicated', text: '2 of 3 replicas are in sync' } as const
const seen: TopicState = { topic: 'a', sight, share: 0.129, unforwardedMs: 0, problems: [problem] }

t.test('a topic has its waiting records, the retention and the replicas', async t => {
  const topic = topicStatus(seen)
  const retention = { retention_seconds: 604_800, retention_used: 0.129 }
  const answer = { topic: 'a', offsets: { start: 100, end: 150, committed: 140 }, ...retention }
  t.match(topic, { ...answer, oldest: '2026-01-01T00:00:00.000Z', replicas: 3, in_sync: 2 })
  t.equal(topicText(topic), '10 records wait for QuestDB, 12 % of 7 d 0 h used, 2 of 3 replicas in sync')
  t.strictSame(topicProblemsOf({ topics: [topic] }), ['topic a: 2 of 3 replicas are in sync'])
  t.strictSame(topicProblemsOf(undefined), [])
})

t.test('records that Kafka has deleted do not wait', async t => {
  const text = (more: Partial<typeof sight>) => topicText(topicStatus({ ...seen, sight: { ...sight, ...more } }))
  t.match(text({ applied: 90 }), '50 records wait')
  t.match(text({ applied: 150 }), 'no record waits')
  t.match(text({ retentionMs: Number.POSITIVE_INFINITY }), 'kept for ever')
})

t.test('a topic that was not checked is reported as unchecked', async t => {
  const topic = topicStatus({ topic: 'a', sight: undefined, share: undefined, unforwardedMs: 0, problems: [] })
  t.match(topic, { offsets: null, oldest: null, retention_used: null })
  t.equal(topicText(topic), 'not looked at yet')
})

const retention = { days: 10, oldest_day: '2026-01-02', expired_days: 3, last_run: null, fault: null, waiting: null }

t.test('days that wait come with the command that confirms them', async t => {
  t.equal(retentionText(retention), '10 whole days, oldest raw readings of 2026-01-02, not looked yet')
  t.strictSame(retentionProblems(retention), [])
  const failed = { ...retention, oldest_day: null, last_run: '2026-02-01T00:00:00Z', fault: 'no space left' }
  t.match(retentionText(failed), /, no raw readings known, last look at 2026-02-01T00:00:00Z, failed$/)
  const waiting = { from: '2026-01-02', before: '2026-01-22', days: 2, reason: 'several_days' } as const
  t.strictSame(retentionProblems({ ...failed, waiting }), [
    'days cannot expire (no space left); it is tried again',
    'raw readings of 2 days from 2026-01-02 on are due at once and stay; if the clock is right: barograph retention confirm 2026-01-22',
  ])
  const [silent] = retentionProblems({ ...retention, waiting: { ...waiting, reason: 'no_newer_readings' } })
  t.match(silent, /are due and stay, since no newer readings came;/)
})
