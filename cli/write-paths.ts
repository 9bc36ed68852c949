/** The write paths of the readings and of the points, as the server's status tells of them. */

import type { Status } from '../api/admin/status-answer.ts'
import { bytesText } from './output.ts'

export interface WritePath {
  rows: 'readings' | 'points'
  journal: Omit<Status['journal'], 'readings'>
  /** Since the start. */
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
