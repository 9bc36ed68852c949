/** Reports readiness: whether the service accepts readings, and the reasons if it is degraded. */

import type { Readiness } from '../api/http/server-family.ts'
import type { IngestStatus } from '../ingest/ingest.ts'
import type { TopicState } from '../ingest/kafka/state/watch.ts'
import type { QuestdbState } from '../store/questdb/questdb-monitor.ts'

export interface ReadinessOptions {
  ingest: () => IngestStatus
  points: () => IngestStatus
  questdb: () => QuestdbState
  postgres: () => string | undefined
  /** Reason why a node refuses requests with credentials. */
  node: () => string | undefined
  /** Reason why some reads are refused although QuestDB is up: their data is being loaded. */
  reads: () => string | undefined
  /** Reason why clients may be refused a connection. */
  connections: () => string | undefined
  /** Kafka topics that serve as journals; undefined with journals on disk. */
  topics?: (() => TopicState[]) | undefined
  /** Faults of replicas of QuestDB, including those that are not used for reads. */
  replicas?: () => readonly string[]
  /** Reason of a node's wrong clock. */
  clock: () => string | undefined
  /** Settings that differ from other nodes'. */
  settings: () => string | undefined
  /** Reason why an external broker sends no readings. */
  broker: () => string | undefined
  isStopping: () => boolean
}

/** Dashboards are outdated beyond it. */
const lagSecondsMax = 60

export function readinessOf(options: ReadinessOptions): Readiness {
  const { postgres, connections, isStopping } = options
  const readings = options.ingest()
  const points = options.points()
  const reasons: string[] = []
  if (isStopping()) reasons.push('the service is stopping')
  if (readings.journal.issue !== undefined) reasons.push(readings.journal.issue)
  const nodeFault = options.node()
  if (nodeFault !== undefined) reasons.push(nodeFault)
  if (reasons.length > 0) return { status: 'unavailable', reasons }
  reasons.push(...faultsOf('readings', readings), ...faultsOf('points', points))
  if (points.journal.issue !== undefined) reasons.push(`points are refused: ${points.journal.issue}`)
  const away = questdbFault(options.questdb(), readings.forwarder.issue ?? points.forwarder.issue)
  const issues = [
    // While QuestDB is unavailable, loading is impossible.
    away ?? options.reads(),
    readings.forwarder.fileIssue ?? points.forwarder.fileIssue,
    postgres(),
    connections(),
    options.broker(),
    options.clock(),
    options.settings(),
  ]
  reasons.push(...issues.filter(issue => issue !== undefined))
  reasons.push(...(options.topics?.() ?? []).flatMap(faultsOfTopic), ...(options.replicas?.() ?? []))
  return reasons.length === 0 ? { status: 'ok' } : { status: 'degraded', reasons }
}

/** Fault of the database for refused reads, without its address. */
export function databaseFaultOf({
  questdb,
  reads,
  postgres,
}: Pick<ReadinessOptions, 'questdb' | 'reads' | 'postgres'>): string | undefined {
  const { state, reason, isLost } = questdb()
  if (isLost) return reason
  if (state === 'up') return reads() ?? postgres()
  return state === 'starting' ? 'QuestDB is starting' : 'QuestDB does not answer'
}

/** Faults of a write path that accepts rows. */
function faultsOf(rows: 'readings' | 'points', { journal, forwarder, lag, unread, clock }: IngestStatus): string[] {
  const faults: string[] = []
  if (unread !== undefined && unread.seconds > 0) {
    const why = unread.reason === undefined ? 'they are being read' : unread.reason
    faults.push(`${rows} that other nodes took in the last ${Math.ceil(unread.seconds)} s are not known here: ${why}`)
  }
  if (forwarder.suspended) faults.push(`QuestDB has suspended the table ${rows}`)
  if (lag.seconds > lagSecondsMax) faults.push(`${rows} become visible to queries after ${Math.round(lag.seconds)} s`)
  if (clock.aheadSeconds > 0) faults.push(aheadText(rows, clock.aheadSeconds))
  if (forwarder.damagedBytes + journal.tornBytes > 0) {
    faults.push(`the journal of ${rows} was corrupted; see its quarantine files`)
  }
  return faults
}

function faultsOfTopic({ topic, problems }: TopicState): string[] {
  return problems.map(({ text }) => `topic ${topic}: ${text}`)
}

function questdbFault(
  { state, reason, isStatementOverdue = false }: QuestdbState,
  forwarderFault: string | undefined,
): string | undefined {
  if (state !== 'up') return reason ?? (state === 'starting' ? 'QuestDB is starting' : 'QuestDB is unavailable')
  if (isStatementOverdue) return 'QuestDB runs a statement beyond its time limit; the log has its text'
  return forwarderFault === undefined ? undefined : `cannot write to QuestDB: ${forwarderFault}`
}

/** Returns the text for a clock behind the newest stamp. Whether the clock was wrong before or is wrong now is unknown. */
function aheadText(rows: string, seconds: number): string {
  const what = `the newest stamp of ${rows} is ${Math.ceil(seconds)} s ahead of the clock`
  return `${what}: the clock is or was wrong`
}
