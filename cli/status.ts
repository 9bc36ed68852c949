/** `barograph status`: the state of the service. */

import { type NodeStatus, Status, type TopicStatus } from '../api/admin/status-answer.ts'
import { command } from './operation-commands.ts'
import { bytesText } from './output.ts'

export const defineStatus = command('', '', {
  examples: ['status', 'status --json | jq .lag.seconds'],
  async run(_, { client }) {
    const status = await client.json(Status, 'GET', '/status')
    return { json: status, text: [rowsOf(status, client.url())] }
  },
})

function rowsOf(status: Status, url: string): string[][] {
  const { versions, questdb, postgres, disk, retention, kafka, nodes } = status
  const writePaths = writePathsOf(status)
  const problemsOfAll = [
    ...nodeProblemsOf(nodes),
    ...writePaths.flatMap(problemsOf),
    ...topicProblemsOf(kafka),
    ...retentionProblems(retention),
    ...(status.set_aside ?? []).map(({ problem }) => problem),
  ]
  return [
    [
      'server',
      `Barograph ${versions.barograph} at ${url}, up for ${durationText(status.uptime_s)}, Node ${versions.node}`,
    ],
    ...(nodes ?? []).map(node => [`node ${node.id}`, nodeText(node)]),
    ['devices', String(status.devices)],
    ['QuestDB', databaseText(questdb)],
    ['PostgreSQL', databaseText(postgres)],
    ...writePaths.flatMap(writePathRows),
    ...(kafka?.topics ?? []).map(topic => [`topic ${topic.topic}`, topicText(topic)]),
    ...replicaTexts(kafka),
    ...(retention.days === null ? [] : [['retention', retentionText(retention)]]),
    ['disk', diskText(disk)],
    ...problemsOfAll.map(problem => ['problem', problem]),
  ]
}

function writePathRows(path: WritePath): string[][] {
  const { rows, journal, accepted, deadLetters } = path
  return [
    [rows, `${accepted} accepted since the start, ${waitingText(path)}, ${deadLetters} dead letters`],
    [`journal of ${rows}`, `${bytesText(journal.bytes)} of ${bytesText(journal.bytes_max)}`],
  ]
}

function databaseText({ kind, state, reason, version }: Status['postgres']): string {
  const what = `${kind === 'own' ? 'managed' : 'external'}, ${state}${reason === null ? '' : ` (${reason})`}`
  return version === null ? what : `${version}, ${what}`
}

/** Lines about the parts of a service, made of its status: write paths, nodes, topics of Kafka, the disk and retention. */
export function durationText(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`
}

export interface WritePath {
  rows: 'readings' | 'points'
  journal: Omit<Status['journal'], 'readings'>
  /** Number of rows since the start. */
  accepted: number
  lag: { rows: number; seconds: number }
  deadLetters: number
  suspended: boolean
  fault: string | null
}

export function writePathsOf({ journal, lag, dead_letters, questdb, points }: Status): WritePath[] {
  return [
    {
      rows: 'readings',
      journal,
      accepted: journal.readings,
      deadLetters: dead_letters,
      lag: { rows: lag.readings, seconds: lag.seconds },
      suspended: questdb.suspended,
      fault: questdb.fault,
    },
    {
      rows: 'points',
      journal: points.journal,
      accepted: points.journal.points,
      deadLetters: points.dead_letters,
      lag: { rows: points.lag.points, seconds: points.lag.seconds },
      suspended: points.suspended,
      fault: points.fault,
    },
  ]
}

export function waitingText({ lag }: WritePath): string {
  return lag.rows === 0 ? 'none waiting' : `${lag.rows} waiting, ${lag.seconds.toFixed(1)} s`
}

export function problemsOf({ rows, journal, suspended, fault }: WritePath): string[] {
  const problems = []
  if (suspended) {
    problems.push(`QuestDB has suspended the table: ${rows} wait in the journal and are not visible to queries`)
  }
  if (fault !== null) problems.push(`${rows}: ${fault}`)
  if (journal.fault !== null) problems.push(`${rows}: ${journal.fault}`)
  if (journal.damaged_bytes > 0) {
    const bytes = bytesText(journal.damaged_bytes)
    problems.push(`${bytes} of the journal of ${rows} are corrupted; see quarantine-* in its directory`)
  }
  return problems
}

export function nodeText({ role, host, version, is_self, ...node }: NodeStatus): string {
  const { leads, lease_valid, lease_age_s, applied_change, clock_ahead_s } = node
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

/** Hundredths of a second are as exact as the measurement. */
function clockText(aheadSeconds: number): string {
  const seconds = Math.abs(aheadSeconds).toFixed(2)
  return seconds === '0.00'
    ? 'clock agrees with PostgreSQL'
    : `clock ${seconds} s ${aheadSeconds > 0 ? 'ahead' : 'behind'}`
}

export function nodeProblemsOf(nodes: Status['nodes'] = []): string[] {
  return nodes.flatMap(({ id, problems }) => problems.map(problem => `node ${id}: ${problem}`))
}

export function topicText({ offsets, replicas, in_sync, retention_seconds, retention_used }: TopicStatus): string {
  if (offsets === null) return 'not looked at yet'
  const waiting = offsets.end - Math.max(offsets.start, offsets.committed)
  const lag = waiting <= 0 ? 'no record waits' : `${waiting} records wait for QuestDB`
  const used = Math.floor((retention_used ?? 0) * 100)
  const kept = retention_seconds === null ? 'kept for ever' : `${used} % of ${durationText(retention_seconds)} used`
  return `${lag}, ${kept}, ${in_sync} of ${replicas} replicas in sync`
}

export function topicProblemsOf(kafka: Status['kafka']): string[] {
  return (kafka?.topics ?? []).flatMap(({ topic, problems }) => problems.map(problem => `topic ${topic}: ${problem}`))
}

/** A line of name and text for each replica of QuestDB. */
export function replicaTexts(kafka: Status['kafka']): [string, string][] {
  return (kafka?.replicas ?? []).map(({ number, is_read, state, reason, behind_seconds, holder, since }) => {
    const facts = [
      reason === null ? state : `${state}: ${reason}`,
      is_read ? 'read here' : undefined,
      behind_seconds < 1 ? undefined : `${durationText(behind_seconds)} behind`,
      holder === null ? 'no process forwards to it' : `process ${holder} forwards to it since ${since}`,
    ]
    return [`replica ${number}`, facts.filter(fact => fact !== undefined).join(', ')]
  })
}

type Disk = Status['disk']

/** A disk that will be full in fewer days is a problem. */
const daysMin = 14

export function diskText(disk: Disk): string {
  const parts = [
    ['journals', disk.journal_bytes],
    ['QuestDB', disk.questdb_bytes],
    ['PostgreSQL', disk.postgres_bytes],
  ] as const
  const used = parts.flatMap(([name, bytes]) => (bytes === null ? [] : [`${name} ${bytesText(bytes)}`]))
  const free = `${bytesText(disk.free_bytes)} free of ${bytesText(disk.total_bytes)} at ${disk.path}`
  return [free, ...used, forecastText(disk)].join(', ')
}

export function isDiskFillingUp({ days_until_full }: Disk): boolean {
  return days_until_full !== null && days_until_full < daysMin
}

function forecastText({ growth_bytes_per_day: growth, days_until_full: days }: Disk): string {
  if (growth === null) return 'growth unknown (needs four days)'
  if (days === null) return growth > 0 ? `${bytesText(growth)} more per day until readings expire` : 'not growing'
  return `${bytesText(growth)} more per day, full in ${days < 1 ? 'less than a day' : `${Math.floor(days)} days`}`
}

type Retention = Status['retention']

export function retentionText({ days, oldest_day, expired_days, last_run, fault }: Retention): string {
  const oldest = oldest_day === null ? 'no raw readings known' : `oldest raw readings of ${oldest_day}`
  const result = fault === null ? `${expired_days} days removed since the start` : 'failed'
  const run = last_run === null ? 'not looked yet' : `last look at ${last_run}, ${result}`
  return `${days} whole days, ${oldest}, ${run}`
}

/** Reasons why days do not expire, each with its remedy. */
export function retentionProblems({ fault, waiting }: Retention): string[] {
  const problems = fault === null ? [] : [`days cannot expire (${fault}); it is tried again`]
  if (waiting === null) return problems
  const subject = `raw readings of ${waiting.days} days from ${waiting.from} on`
  if (waiting.reason === 'archive_unavailable') {
    return [...problems, `${subject} are due and stay, since the archive is unavailable`]
  }
  const why = {
    several_days: 'are due at once and stay',
    no_newer_readings: 'are due and stay, since no newer readings came',
  }[waiting.reason]
  return [...problems, `${subject} ${why}; if the clock is right: barograph retention confirm ${waiting.before}`]
}
