/** Facts about the service in words, from `GET /api/admin/status`. */

import type { NodeStatus, ReplicaStatus, Status, TopicStatus } from '../../../api/admin/status-answer.ts'
import { decimalText } from '../../text/numbers.ts'
import { spanText } from '../../text/times.ts'
import { countText, t, tc, tn } from '../../words/words.ts'

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
  return `${at === 0 || value >= 100 ? Math.round(value) : decimalText(value, 1)}\u202f${units[at]}`
}

export function statusGroups(status: Status): StatusGroup[] {
  const { journal, lag, points, retention, disk, versions } = status
  return [
    {
      title: t('Journal'),
      facts: [
        {
          name: t('In use'),
          text: t('{part} of {whole}', { part: bytesText(journal.bytes), whole: bytesText(journal.bytes_max) }),
        },
        { name: t('Stored since the start'), text: tn(journal.readings, '{count} reading', '{count} readings') },
        {
          name: t('Not yet in QuestDB'),
          text: `${tn(lag.readings, '{count} reading', '{count} readings')}, ${spanText(lag.seconds * 1000)}`,
        },
        {
          name: t('Points not yet in QuestDB'),
          text: `${countText(points.lag.points)}, ${spanText(points.lag.seconds * 1000)}`,
        },
        { name: t('Dead letters'), text: deadLetters(status), isBad: status.dead_letters + points.dead_letters > 0 },
        ...faults([journal.fault, points.fault === status.questdb.fault ? null : points.fault]),
        ...(journal.damaged_bytes === 0
          ? []
          : [{ name: t('Damaged'), text: bytesText(journal.damaged_bytes), isBad: true }]),
      ],
    },
    ...(status.nodes ?? []).map(nodeGroup),
    ...(status.kafka?.topics ?? []).map(topicGroup),
    ...(status.kafka?.replicas ?? []).map(replicaGroup),
    {
      title: t('Databases'),
      facts: [
        { name: 'QuestDB', text: databaseText(status.questdb), isBad: status.questdb.state !== 'up' },
        ...(status.questdb.suspended
          ? [{ name: t('Table'), text: t('suspended: new rows are not visible'), isBad: true }]
          : []),
        ...faults([status.questdb.fault]),
        { name: 'PostgreSQL', text: databaseText(status.postgres), isBad: status.postgres.state !== 'up' },
      ],
    },
    {
      title: t('Disk'),
      facts: [
        { name: t('Folder'), text: disk.path },
        {
          name: t('Free'),
          text: t('{part} of {whole}', { part: bytesText(disk.free_bytes), whole: bytesText(disk.total_bytes) }),
        },
        { name: t('Growth'), text: growthText(disk.growth_bytes_per_day) },
        { name: t('Full in'), text: daysText(disk), isBad: (disk.days_until_full ?? Infinity) < 30 },
      ],
    },
    {
      title: t('Retention'),
      facts: [
        {
          name: t('Raw readings stay'),
          text: retention.days === null ? t('for ever') : tn(retention.days, '{count} day', '{count} days'),
        },
        ...(retention.oldest_day === null ? [] : [{ name: t('Oldest day'), text: retention.oldest_day }]),
        ...faults([retention.fault]),
        ...waitingDays(retention),
      ],
    },
    {
      title: t('Service'),
      facts: [
        ...partialRules(status.alerts?.partial_rules),
        ...(status.set_aside ?? []).map(({ problem }) => ({ name: t('Set aside'), text: problem, isBad: true })),
        { name: t('Who can read'), text: readersText(status.reads) },
        { name: t('Devices'), text: countText(status.devices) },
        { name: t('Running for'), text: spanText(status.uptime_s * 1000) },
        { name: 'Barograph', text: versions.barograph },
        { name: 'Node', text: versions.node },
        ...(versions.java === null ? [] : [{ name: 'Java', text: versions.java }]),
      ],
    },
  ]
}

export function readersText(reads: Status['reads']): string {
  return reads === 'open'
    ? t(
        'Everybody who reaches the address can read all devices, without an account (READS=open). The role viewer has no effect.',
      )
    : t('Viewers and administrators can read all devices, a user those that they own (READS=private).')
}

function topicGroup({ topic, offsets, replicas, in_sync, problems, ...retention }: TopicStatus): StatusGroup {
  const { retention_seconds: seconds, retention_used: used } = retention
  const facts: StatusGroup['facts'] = []
  if (offsets !== null) {
    const { start, end, committed } = offsets
    const waiting = Math.max(0, end - Math.max(start, committed))
    facts.push({ name: t('Not yet in QuestDB'), text: tn(waiting, '{count} record', '{count} records') })
    facts.push({
      name: t('Replicas in sync'),
      text: t('{part} of {whole}', { part: String(in_sync), whole: String(replicas) }),
    })
    const kept =
      seconds === null
        ? t('kept for ever')
        : t('{part} of {whole}', { part: percentText(used ?? 0), whole: spanText(seconds * 1000) })
    facts.push({ name: t('Retention used'), text: kept })
  }
  if (problems.length > 0) facts.push({ name: t('Problems'), text: problems.join('; '), isBad: true })
  return { title: t('Topic {topic}', { topic }), facts }
}

function nodeGroup(node: NodeStatus): StatusGroup {
  const { id, is_self, host, role, version, leads, lease_valid, lease_age_s, applied_change, clock_ahead_s } = node
  const renewed =
    lease_age_s === null ? t('given up') : t('renewed {duration} ago', { duration: spanText(lease_age_s * 1000) })
  return {
    title: t('Node {id}', { id }),
    facts: [
      { name: t('Host'), text: is_self ? t('{host}, which answers here', { host }) : host },
      { name: t('Role'), text: leads ? t('{role}, leads', { role }) : role },
      { name: 'Barograph', text: version },
      { name: t('Lease'), text: lease_valid ? renewed : t('expired, {renewed}', { renewed }), isBad: !lease_valid },
      { name: t('Applied change'), text: countText(applied_change) },
      ...(clock_ahead_s === null ? [] : [{ name: t('Clock'), text: clockText(clock_ahead_s) }]),
      ...(node.problems.length === 0 ? [] : [{ name: t('Problems'), text: node.problems.join('; '), isBad: true }]),
    ],
  }
}

/** A node's clock difference, to a hundredth of a second. */
function clockText(aheadSeconds: number): string {
  const text = decimalText(Math.abs(aheadSeconds), 2)
  if (Math.abs(aheadSeconds) < 0.005) return t('agrees with PostgreSQL')
  const span = `${text}\u202fs`
  return aheadSeconds < 0 ? t('{span} behind PostgreSQL', { span }) : t('{span} ahead of PostgreSQL', { span })
}

function replicaGroup({ number, is_read, state, reason, behind_seconds, holder, since }: ReplicaStatus): StatusGroup {
  const shown = stateNames[state] ?? state
  const name = is_read ? t('{state}, read here', { state: shown }) : shown
  const facts: StatusGroup['facts'] = [
    { name: 'QuestDB', text: reason === null ? name : `${name}: ${reason}`, isBad: state !== 'up' },
    { name: t('Behind'), text: spanText(behind_seconds * 1000), isBad: behind_seconds > 60 },
    { name: t('Forwarded by'), text: holder ?? t('none'), isBad: holder === null },
  ]
  if (holder !== null && since !== null) facts.push({ name: t('Since'), text: new Date(since) })
  return { title: t('Replica {number}', { number }), facts }
}

function percentText(share: number): string {
  return `${Math.floor(share * 100)}\u202f%`
}

function faults(texts: readonly (string | null)[]): StatusGroup['facts'] {
  return texts.flatMap(text => (text === null ? [] : [{ name: t('Fault'), text, isBad: true }]))
}

function waitingDays({ waiting }: Status['retention']): StatusGroup['facts'] {
  if (waiting === null) return []
  const { from, before, days, reason } = waiting
  if (reason === 'archive_unavailable') {
    const text = t('{days} from {from} on, due, but the archive is unavailable', {
      days: tn(days, '{count} day', '{count} days'),
      from,
    })
    return [{ name: t('Stays until archived'), text, isBad: true }]
  }
  const why = reason === 'several_days' ? t('due at once') : t('due, but no newer readings came')
  const text = t('{days} from {from} on, {why}; if the clock is right: barograph retention confirm {before}', {
    days: tn(days, '{count} day', '{count} days'),
    from,
    why,
    before,
  })
  return [{ name: t('Stays until confirmed'), text, isBad: true }]
}

function partialRules(ids: readonly number[] = []): StatusGroup['facts'] {
  if (ids.length === 0) return []
  return [{ name: t('Rules that cover too few devices'), text: ids.join(', '), isBad: true }]
}

function deadLetters({ dead_letters, points }: Status): string {
  return t('{readings} of readings, {points} of points', {
    readings: countText(dead_letters),
    points: countText(points.dead_letters),
  })
}

const stateNames: Readonly<Record<string, string>> = {
  starting: t('starting'),
  up: tc('database', 'up'),
  away: t('away'),
  lost: t('lost'),
}

function databaseText({ kind, state, version, reason }: Status['postgres']): string {
  const parts = [
    stateNames[state],
    version ?? undefined,
    kind === 'own' ? t('started by the service') : t('given'),
    reason ?? undefined,
  ]
  return parts.filter(part => part !== undefined).join(', ')
}

function growthText(bytesPerDay: number | null): string {
  if (bytesPerDay === null) return t('not known before the fourth day')
  return bytesPerDay <= 0 ? t('none') : t('{bytes} a day', { bytes: bytesText(bytesPerDay) })
}

function daysText({ days_until_full, growth_bytes_per_day }: Status['disk']): string {
  if (days_until_full !== null) return tn(Math.floor(days_until_full), '{count} day', '{count} days')
  return growth_bytes_per_day === null ? t('not known yet') : t('not foreseen')
}
