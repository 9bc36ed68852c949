/** Facts about the service in words, from `GET /api/admin/status`. */

import type { NodeStatus, ReplicaStatus, Status, TopicStatus } from '../../../api/admin/status-answer.ts'
import { spanText } from '../../text/times.ts'
import { countText, tn } from '../../words/words.ts'

export interface StatusGroup {
  title: string
  /** A moment is a date. */
  facts: { name: string; text: string | Date; isBad?: boolean }[]
}

const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** `1.5 GB`, by thousands. */
export function bytesText(bytes: number): string {
  let at = 0
  let value = bytes
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000
    at++
  }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)}\u202f${units[at]}`
}

export function statusGroups(status: Status): StatusGroup[] {
  const { journal, lag, points, retention, disk, versions } = status
  return [
    {
      title: 'Journal',
      facts: [
        { name: 'In use', text: `${bytesText(journal.bytes)} of ${bytesText(journal.bytes_max)}` },
        { name: 'Stored since the start', text: tn(journal.readings, '{count} reading', '{count} readings') },
        {
          name: 'Not yet in QuestDB',
          text: `${tn(lag.readings, '{count} reading', '{count} readings')}, ${spanText(lag.seconds * 1000)}`,
        },
        {
          name: 'Points not yet in QuestDB',
          text: `${countText(points.lag.points)}, ${spanText(points.lag.seconds * 1000)}`,
        },
        { name: 'Dead letters', text: deadLetters(status), isBad: status.dead_letters + points.dead_letters > 0 },
        ...faults([journal.fault, points.fault === status.questdb.fault ? null : points.fault]),
        ...(journal.damaged_bytes === 0
          ? []
          : [{ name: 'Damaged', text: bytesText(journal.damaged_bytes), isBad: true }]),
      ],
    },
    ...(status.nodes ?? []).map(nodeGroup),
    ...(status.kafka?.topics ?? []).map(topicGroup),
    ...(status.kafka?.replicas ?? []).map(replicaGroup),
    {
      title: 'Databases',
      facts: [
        { name: 'QuestDB', text: databaseText(status.questdb), isBad: status.questdb.state !== 'up' },
        ...(status.questdb.suspended
          ? [{ name: 'Table', text: 'suspended: new rows are not visible', isBad: true }]
          : []),
        ...faults([status.questdb.fault]),
        { name: 'PostgreSQL', text: databaseText(status.postgres), isBad: status.postgres.state !== 'up' },
      ],
    },
    {
      title: 'Disk',
      facts: [
        { name: 'Folder', text: disk.path },
        { name: 'Free', text: `${bytesText(disk.free_bytes)} of ${bytesText(disk.total_bytes)}` },
        { name: 'Growth', text: growthText(disk.growth_bytes_per_day) },
        { name: 'Full in', text: daysText(disk), isBad: (disk.days_until_full ?? Infinity) < 30 },
      ],
    },
    {
      title: 'Retention',
      facts: [
        {
          name: 'Raw readings stay',
          text: retention.days === null ? 'for ever' : tn(retention.days, '{count} day', '{count} days'),
        },
        ...(retention.oldest_day === null ? [] : [{ name: 'Oldest day', text: retention.oldest_day }]),
        ...faults([retention.fault]),
        ...waitingDays(retention),
      ],
    },
    {
      title: 'Service',
      facts: [
        ...partialRules(status.alerts?.partial_rules),
        ...(status.set_aside ?? []).map(({ problem }) => ({ name: 'Set aside', text: problem, isBad: true })),
        { name: 'Who can read', text: readersText(status.reads) },
        { name: 'Devices', text: countText(status.devices) },
        { name: 'Running for', text: spanText(status.uptime_s * 1000) },
        { name: 'Barograph', text: versions.barograph },
        { name: 'Node', text: versions.node },
        ...(versions.java === null ? [] : [{ name: 'Java', text: versions.java }]),
      ],
    },
  ]
}

export function readersText(reads: Status['reads']): string {
  return reads === 'open'
    ? 'Everybody who reaches the address can read all devices, without an account (READS=open). The role viewer has no effect.'
    : 'Viewers and administrators can read all devices, a user those that they own (READS=private).'
}

function topicGroup({ topic, offsets, replicas, in_sync, problems, ...retention }: TopicStatus): StatusGroup {
  const { retention_seconds: seconds, retention_used: used } = retention
  const facts: StatusGroup['facts'] = []
  if (offsets !== null) {
    const { start, end, committed } = offsets
    const waiting = Math.max(0, end - Math.max(start, committed))
    facts.push({ name: 'Not yet in QuestDB', text: tn(waiting, '{count} record', '{count} records') })
    facts.push({ name: 'Replicas in sync', text: `${in_sync} of ${replicas}` })
    const kept = seconds === null ? 'kept for ever' : `${percentText(used ?? 0)} of ${spanText(seconds * 1000)}`
    facts.push({ name: 'Retention used', text: kept })
  }
  if (problems.length > 0) facts.push({ name: 'Problems', text: problems.join('; '), isBad: true })
  return { title: `Topic ${topic}`, facts }
}

function nodeGroup(node: NodeStatus): StatusGroup {
  const { id, is_self, host, role, version, leads, lease_valid, lease_age_s, applied_change, clock_ahead_s } = node
  const renewed = lease_age_s === null ? 'given up' : `renewed ${spanText(lease_age_s * 1000)} ago`
  return {
    title: `Node ${id}`,
    facts: [
      { name: 'Host', text: is_self ? `${host}, which answers here` : host },
      { name: 'Role', text: leads ? `${role}, leads` : role },
      { name: 'Barograph', text: version },
      { name: 'Lease', text: lease_valid ? renewed : `expired, ${renewed}`, isBad: !lease_valid },
      { name: 'Applied change', text: countText(applied_change) },
      ...(clock_ahead_s === null ? [] : [{ name: 'Clock', text: clockText(clock_ahead_s) }]),
      ...(node.problems.length === 0 ? [] : [{ name: 'Problems', text: node.problems.join('; '), isBad: true }]),
    ],
  }
}

/** A node's clock difference, to a hundredth of a second. */
function clockText(aheadSeconds: number): string {
  const text = Math.abs(aheadSeconds).toFixed(2)
  return text === '0.00'
    ? 'agrees with PostgreSQL'
    : `${text}\u202fs ${aheadSeconds < 0 ? 'behind' : 'ahead of'} PostgreSQL`
}

function replicaGroup({ number, is_read, state, reason, behind_seconds, holder, since }: ReplicaStatus): StatusGroup {
  const name = is_read ? `${state}, read here` : state
  const facts: StatusGroup['facts'] = [
    { name: 'QuestDB', text: reason === null ? name : `${name}: ${reason}`, isBad: state !== 'up' },
    { name: 'Behind', text: spanText(behind_seconds * 1000), isBad: behind_seconds > 60 },
    { name: 'Forwarded by', text: holder ?? 'none', isBad: holder === null },
  ]
  if (holder !== null && since !== null) facts.push({ name: 'Since', text: new Date(since) })
  return { title: `Replica ${number}`, facts }
}

function percentText(share: number): string {
  return `${Math.floor(share * 100)}\u202f%`
}

function faults(texts: readonly (string | null)[]): StatusGroup['facts'] {
  return texts.flatMap(text => (text === null ? [] : [{ name: 'Fault', text, isBad: true }]))
}

function waitingDays({ waiting }: Status['retention']): StatusGroup['facts'] {
  if (waiting === null) return []
  const { from, before, days, reason } = waiting
  if (reason === 'archive_unavailable') {
    const text = `${tn(days, '{count} day', '{count} days')} from ${from} on, due, but the archive is unavailable`
    return [{ name: 'Stays until archived', text, isBad: true }]
  }
  const why = reason === 'several_days' ? 'due at once' : 'due, but no newer readings came'
  const text = `${tn(days, '{count} day', '{count} days')} from ${from} on, ${why}; if the clock is right: barograph retention confirm ${before}`
  return [{ name: 'Stays until confirmed', text, isBad: true }]
}

function partialRules(ids: readonly number[] = []): StatusGroup['facts'] {
  if (ids.length === 0) return []
  return [{ name: 'Rules that cover too few devices', text: ids.join(', '), isBad: true }]
}

function deadLetters({ dead_letters, points }: Status): string {
  return `${countText(dead_letters)} of readings, ${countText(points.dead_letters)} of points`
}

function databaseText({ kind, state, version, reason }: Status['postgres']): string {
  const parts = [state, version ?? undefined, kind === 'own' ? 'started by the service' : 'given', reason ?? undefined]
  return parts.filter(part => part !== undefined).join(', ')
}

function growthText(bytesPerDay: number | null): string {
  if (bytesPerDay === null) return 'not known before the fourth day'
  return bytesPerDay <= 0 ? 'none' : `${bytesText(bytesPerDay)} a day`
}

function daysText({ days_until_full, growth_bytes_per_day }: Status['disk']): string {
  if (days_until_full !== null) return tn(Math.floor(days_until_full), '{count} day', '{count} days')
  return growth_bytes_per_day === null ? 'not known yet' : 'not foreseen'
}
