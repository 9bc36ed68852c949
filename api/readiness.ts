/** Readiness: whether the service accepts readings, and the reasons when it is degraded. */

import type { IngestStatus } from '../ingest/ingest.ts'
import type { Readiness } from './http/health.ts'

export interface ReadinessOptions {
  ingest: () => IngestStatus
  questdb: () => { state: 'starting' | 'up' | 'away'; reason?: string }
  postgres: () => string | undefined
  /** Why clients may not get a connection. */
  connections: () => string | undefined
  isStopping: () => boolean
}

/** Beyond this, what dashboards show is old. */
const lagSecondsMax = 60

export function readinessOf({ ingest, questdb, postgres, connections, isStopping }: ReadinessOptions): Readiness {
  const { journal, forwarder, lag, clock } = ingest()
  const reasons: string[] = []
  if (isStopping()) reasons.push('the service is stopping')
  if (journal.issue !== undefined) reasons.push(journal.issue)
  if (reasons.length > 0) return { status: 'unavailable', reasons }
  if (forwarder.suspended) reasons.push('QuestDB has suspended the table')
  if (lag.seconds > lagSecondsMax) reasons.push(`readings become visible to queries after ${Math.round(lag.seconds)} s`)
  if (clock.aheadSeconds > 0) reasons.push(aheadText(clock.aheadSeconds))
  if (forwarder.damagedBytes + journal.tornBytes > 0)
    reasons.push('the journal was corrupted; see its quarantine files')
  const issues = [questdbFault(questdb(), forwarder.issue), forwarder.fileIssue, postgres(), connections()]
  reasons.push(...issues.filter(issue => issue !== undefined))
  return reasons.length === 0 ? { status: 'ok' } : { status: 'degraded', reasons }
}

function questdbFault(
  { state, reason }: ReturnType<ReadinessOptions['questdb']>,
  forwarderFault: string | undefined,
): string | undefined {
  if (state !== 'up') return reason ?? (state === 'starting' ? 'QuestDB is starting' : 'QuestDB is unavailable')
  return forwarderFault === undefined ? undefined : `cannot write to QuestDB: ${forwarderFault}`
}

/** Until the clock has passed it: nobody can tell from here whether the clock was wrong before or is wrong now. */
function aheadText(seconds: number): string {
  const what = `the newest stored reading is ${Math.ceil(seconds)} s ahead of the clock`
  return `${what}: the clock is or was wrong`
}
