/** Checks for the monitor of a QuestDB that it has all rows that the journals have sent. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, positionIssue, type Settled, settlePosition } from '../ingest/forwarder/settle-position.ts'
import type { ForwardingIngest, ForwardingPointsIngest } from '../ingest/ingest.ts'
import { journalsOf } from '../ingest/kafka/client/names.ts'
import type { TableDescription } from '../ingest/table.ts'
import type { QuestdbHttp } from '../store/questdb/client/questdb-address.ts'
import type { ContentCheck } from '../store/questdb/content-guard.ts'

interface DiskJournal {
  table: TableDescription
  directory: string
  path: ForwardingIngest | ForwardingPointsIngest
  /** Undefined until QuestDB is ready for rows. */
  start: () => { questdb: QuestdbHttp; isSynced: boolean; customSeries: Uint32Array } | undefined
}

export interface DiskCheckOptions {
  database: Database
  journals: readonly DiskJournal[]
  acceptedMs: number | undefined
  nowMs: () => number
}

/** The check also forwards, replays or pauses the journals. */
export function checkDiskJournals({ journals, ...options }: DiskCheckOptions): ContentCheck {
  const followers = journals.map(createFollower)
  return async exec => {
    const issues: string[] = []
    for (const [at, { table, path, directory }] of journals.entries()) {
      const { journal, forwarder } = path.status()
      const { isStarted, beforeAgain, follow } = followers[at] as Follower
      const committed = forwarder.recorded ?? 0
      const place = {
        committed,
        start: forwarder.start,
        end: journal.end,
        untilMs: checkpointMs(directory),
        isNew: committed === 0 && forwarder.start === 0 && !isStarted(),
      }
      const own = { ...options, exec, journal: `disk:${table.name}`, table, beforeAgain }
      const settled = await settlePosition(own, place)
      follow(settled, place.committed)
      if (settled.issue !== undefined) issues.push(settled.issue)
    }
    return issues.length === 0 ? undefined : issues.join('; ')
  }
}

interface Follower {
  isStarted: () => boolean
  beforeAgain: (from: number) => void
  follow: (settled: Settled, committed: number) => void
}

const replayReason = 'QuestDB lacks rows that it had'

function createFollower({ path, start }: DiskJournal): Follower {
  let isStarted = false
  let isPaused = false
  function pause(isNow: boolean): void {
    if (isStarted && isNow !== isPaused) path.pause(isNow)
    isPaused = isStarted && isNow
  }
  return {
    isStarted: () => isStarted,
    beforeAgain(from) {
      if (isStarted) path.rewind(from, replayReason)
    },
    follow(settled, committed) {
      const options = isStarted || settled.kind === 'unfit' ? undefined : start()
      if (settled.kind !== 'unfit' && options !== undefined) {
        const { questdb, isSynced, customSeries } = options
        const from = settled.kind === 'again' ? settled.from : undefined
        path.startForwarding(questdb, isSynced, customSeries, { id: settled.id, from })
        isStarted = true
      }
      // Rows sent since the last position may have reached the other QuestDB.
      else if (isPaused && settled.kind === 'fits') path.rewind(committed, replayReason)
      pause(settled.kind === 'unfit')
    },
  }
}

/** Time of the last checkpoint. */
function checkpointMs(directory: string): number {
  return statSync(join(directory, 'checkpoint'), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

export interface CheckedTopic {
  topic: string
  table: TableDescription
  /** Known beginning of the topic. */
  start: () => number
}

/** Processes that read replicas use this check. Another process forwards to the replicas. */
export function checkTopics(database: Database, replica: number, topics: readonly CheckedTopic[]): ContentCheck {
  return async exec => {
    const issues: string[] = []
    for (const { topic, table, start } of topics) {
      const issue = await positionIssue({ database, exec, ...journalsOf(topic, replica), table }, start())
      if (issue !== undefined) issues.push(issue)
    }
    return issues.length === 0 ? undefined : issues.join('; ')
  }
}
