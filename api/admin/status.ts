/** `GET /status`: the state of the service and of its nodes. */

import type pg from 'pg'
import type { Devices } from '../../auth/devices/devices.ts'
import { type NodeState, shortNodeId } from '../../auth/nodes/node-states.ts'
import type { Nodes } from '../../auth/nodes/nodes.ts'
import { clockFault } from '../../auth/nodes/postgres-clock.ts'
import { advisedFault } from '../../auth/nodes/settings-differ.ts'
import type { Ingest, IngestStatus, PointsIngest } from '../../ingest/ingest.ts'
import { readReplicaHolders } from '../../ingest/kafka/state/rows.ts'
import type { TopicState } from '../../ingest/kafka/state/watch.ts'
import type { DiskUse } from '../../service/lifecycle/disk/disk-use.ts'
import type { WaitingDays } from '../../service/lifecycle/retention/due-days.ts'
import { dayText } from '../../service/lifecycle/retention/expired-days.ts'
import type { Retention } from '../../service/lifecycle/retention/retention.ts'
import type { RetentionState } from '../../service/lifecycle/retention/retention-nodes.ts'
import type { Questdb } from '../../store/questdb/questdb.ts'
import type { Store } from '../../store/store.ts'
import { packageVersion } from '../../store/version.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type NodeStatus, type ReplicaStatus, Status, type TopicStatus } from './status-answer.ts'

type ShownQuestdb = Pick<Questdb, 'managed' | 'state' | 'version' | 'commitMode'>

export interface StatusOptions {
  devices: Pick<Devices, 'size'>
  ingest: Pick<Ingest, 'status'>
  pointsIngest: Pick<PointsIngest, 'status'>
  store: Store
  dataDirectory: string
  diskUse: Pick<DiskUse, 'read'>
  retention: Pick<Retention, 'state'>
  /** Undefined with journals on disk. */
  topics?: (() => TopicState[]) | undefined
  /** State of each replica. PostgreSQL adds the forwarding process. */
  replicas?: (() => readonly Omit<ReplicaStatus, 'holder' | 'since'>[]) | undefined
  /** Undefined for a single process. */
  nodes?: Pick<Nodes, 'own' | 'states'> | undefined
  /** Undefined without rule evaluation. */
  alertEngine?: (() => Status['alerts']) | undefined
  /** Work that is not repeated because it ended the service. */
  setAside?: (() => Promise<NonNullable<Status['set_aside']>>) | undefined
  isPostgresManaged: boolean
  /** Undefined without the listener. */
  mqttPort?: number | undefined
  reads: Status['reads']
}

export function statusOperation(options: StatusOptions): AdminOperation {
  return operation({
    method: 'GET',
    path: '/status',
    name: 'admin_read_status',
    summary: 'State of the service',
    success: { status: 200, description: 'Its state', json: Status.meta({ id: 'AdminStatus' }) },
    handle: async (_asked, reply) => reply.send(await readStatus(options)),
  })
}

async function readStatus({
  devices,
  ingest,
  pointsIngest,
  store,
  dataDirectory,
  diskUse,
  retention,
  topics,
  replicas,
  nodes,
  alertEngine,
  setAside,
  isPostgresManaged,
  mqttPort,
  reads,
}: StatusOptions): Promise<Status> {
  const readings = ingest.status()
  const points = pointsIngest.status()
  const versions = store.versions()
  const [postgresFault, disk, several, aside = []] = await Promise.all([
    askPostgres(store.postgres),
    diskUse.read(),
    processesOf({ topics, replicas, nodes, store }),
    // The rest of the status is available without PostgreSQL.
    setAside?.().catch(() => undefined),
  ])
  const { questdb } = store
  const alerts = alertEngine?.()
  return {
    versions: { barograph: packageVersion(), node: process.versions.node, java: versions.java ?? null },
    uptime_s: Math.round(process.uptime()),
    devices: devices.size(),
    questdb: { ...questdbOf(questdb), ...forwarderOf(readings) },
    postgres: {
      kind: isPostgresManaged ? 'own' : 'given',
      state: postgresFault === undefined ? 'up' : 'away',
      reason: postgresFault ?? null,
      version: versions.postgres,
    },
    journal: { ...journalOf(readings), readings: readings.journal.records },
    lag: { readings: readings.lag.rows, seconds: readings.lag.seconds },
    dead_letters: readings.forwarder.deadLetters,
    points: {
      journal: { ...journalOf(points), points: points.journal.records },
      lag: { points: points.lag.rows, seconds: points.lag.seconds },
      dead_letters: points.forwarder.deadLetters,
      ...forwarderOf(points),
    },
    ...several,
    ...(alerts === undefined ? {} : { alerts }),
    mqtt_port: mqttPort ?? null,
    reads,
    ...(aside.length === 0 ? {} : { set_aside: aside }),
    retention: retentionOf(retention.state()),
    disk: {
      path: dataDirectory,
      free_bytes: disk.freeBytes,
      total_bytes: disk.totalBytes,
      journal_bytes: disk.journalBytes ?? null,
      questdb_bytes: disk.questdbBytes ?? null,
      postgres_bytes: disk.postgresBytes ?? null,
      growth_bytes_per_day: disk.growthBytesPerDay ?? null,
      days_until_full: disk.daysUntilFull ?? null,
    },
  }
}

function questdbOf({ managed, state, version, commitMode }: ShownQuestdb) {
  return {
    kind: managed ? ('own' as const) : ('given' as const),
    state: state().state,
    reason: state().reason ?? null,
    version: version() ?? null,
    commit_mode: commitMode() ?? null,
  }
}

/** Lists the processes of a service that may have several. */
async function processesOf({
  topics,
  replicas,
  nodes,
  store,
}: Pick<StatusOptions, 'topics' | 'replicas' | 'nodes' | 'store'>): Promise<Pick<Status, 'kafka' | 'nodes'>> {
  const kafkaNow = topics && kafkaOf(topics(), replicas?.() ?? [], store.postgres)
  const [kafka, states] = await Promise.all([kafkaNow, nodes && nodesOf(nodes)])
  return { ...(kafka === undefined ? {} : { kafka }), ...(states === undefined ? {} : { nodes: states }) }
}

async function kafkaOf(
  topics: readonly TopicState[],
  replicas: ReturnType<NonNullable<StatusOptions['replicas']>>,
  pool: pg.Pool,
): Promise<Status['kafka']> {
  const holders = await readReplicaHolders(pool).catch(() => [])
  return {
    topics: topics.map(topicStatus),
    replicas: replicas.map(replica => {
      const { holder, takenMs } = holders.find(({ number }) => number === replica.number) ?? {}
      return {
        ...replica,
        holder: holder ?? null,
        since: takenMs === undefined ? null : new Date(takenMs).toISOString(),
      }
    }),
  }
}

async function nodesOf({ own, states }: Pick<Nodes, 'own' | 'states'>): Promise<Status['nodes']> {
  const { id } = own()
  return nodeStatuses(await states(), id, Date.now())
}

function retentionOf(state: RetentionState): Status['retention'] {
  const { days, oldestDayMs, expiredDays, lastRunMs, fault, waiting } = state
  return {
    days: days ?? null,
    oldest_day: oldestDayMs === undefined ? null : dayText(oldestDayMs),
    expired_days: expiredDays,
    last_run: lastRunMs === undefined ? null : new Date(lastRunMs).toISOString(),
    fault: fault ?? null,
    waiting: waiting === undefined ? null : waitingOf(waiting),
  }
}

function waitingOf({ fromMs, beforeMs, days, reason }: WaitingDays): Status['retention']['waiting'] {
  return { from: dayText(fromMs), before: dayText(beforeMs), days, reason }
}

function journalOf({ journal, forwarder }: IngestStatus) {
  return {
    bytes: journal.bytes,
    bytes_max: journal.bytesMax,
    damaged_bytes: journal.tornBytes + forwarder.damagedBytes,
    fault: journal.issue ?? forwarder.fileIssue ?? null,
  }
}

function forwarderOf({ forwarder }: IngestStatus) {
  return { suspended: forwarder.suspended, fault: forwarder.issue ?? null }
}

async function askPostgres(pool: pg.Pool): Promise<string | undefined> {
  try {
    await pool.query('SELECT 1')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A journal's Kafka topic in the form of `GET /status`. */
export function topicStatus({ topic, sight, share, problems }: TopicState): TopicStatus {
  const { start, end, applied, oldestMs, replicas, inSync, retentionMs = Number.POSITIVE_INFINITY } = sight ?? {}
  const isSeen = start !== undefined && end !== undefined && applied !== undefined
  return {
    topic,
    offsets: isSeen ? { start, end, committed: applied } : null,
    oldest: oldestMs === undefined ? null : new Date(oldestMs).toISOString(),
    replicas: replicas ?? null,
    in_sync: inSync ?? null,
    retention_seconds: Number.isFinite(retentionMs) ? retentionMs / 1000 : null,
    retention_used: share ?? null,
    problems: problems.map(({ text }) => text),
  }
}

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
