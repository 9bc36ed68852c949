/**
 * Makes a replica from another one while the service runs. The order makes the copy complete:
 *
 * 1. The replica counts as lost: rows are not forwarded to it, and erasures do not wait for it.
 * 2. The committed offsets of the source are noted: its QuestDB has all records before them.
 * 3. Its QuestDB makes a checkpoint, which an operator's command copies to the new one and starts there.
 * 4. The new QuestDB gets its own positions. Then one transaction sets the noted offsets as its beginning, copies
 *    tombstones and dead letters of the source, and repeats erasures that ended meanwhile.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { appendChanges } from '../../auth/nodes/feed-rows.ts'
import { type Exec, putPosition, shownPosition } from '../../ingest/forwarder/applied-positions.ts'
import { readKnownJournals } from '../../ingest/forwarder/settle-position.ts'
import { stateKey } from '../../ingest/kafka/client/names.ts'
import { publishedChannel } from '../../ingest/kafka/state/forward-status.ts'
import { markLost } from '../../ingest/kafka/state/rows.ts'
import { firstOffset } from '../../ingest/kafka/state/state.ts'
import { type TableDescription, tableNames } from '../../ingest/table.ts'
import type { Log } from '../../store/log.ts'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import { BackupError } from './backup-parts.ts'
import { eraseAgain, listDone, listDoneSince } from './erased.ts'
import { assertInUse, copyQuestdb } from './topics-backup.ts'

interface NumberedQuestdb {
  readonly number: number
  readonly http: QuestdbHttp
}

export interface CopyReplicaOptions {
  from: NumberedQuestdb
  to: NumberedQuestdb
  postgres: pg.Client
  tables: ReadonlyMap<string, TableDescription>
  /** Copies QuestDB's files from `from` to `to` while the checkpoint is held. */
  copyFiles(): Promise<void>
  signal: AbortSignal
  onStep: (step: string) => void
  log: Log
}

interface CopiedTopic {
  topic: string
  table: TableDescription
  offset: number
  /** Key of the source's journal in QuestDB. */
  sourceId: string
  id: string
}

const execTimeoutMs = 30_000
const pauseMs = 500

/** Resolves to the offsets of the replay. Rejects with a BackupError if an operator can correct the cause. */
export async function copyReplica(options: CopyReplicaOptions): Promise<{ topic: string; offset: number }[]> {
  const { from, to, postgres, copyFiles, signal, onStep, log } = options
  await assertInUse(postgres, from.number)
  await markLost(postgres, to.number, `it is being copied from replica ${from.number}`)
  const doneBefore = await listDone(postgres)
  const copied = await copiedTopics(options)
  await copyQuestdb({ questdb: from.http, copyQuestdb: copyFiles, signal, onStep, log }, '')
  onStep(`waiting for the QuestDB of replica ${to.number}`)
  const client = createQuestdbClient(to.http)
  try {
    const exec: Exec = sql => client.exec(sql, execTimeoutMs)
    await untilCopied(exec, copied, signal)
    for (const { id, table, offset } of copied) {
      await putPosition(
        exec,
        { id, tables: tableNames(table) },
        { position: offset, wholeFrom: 0, recordedMs: Date.now() },
      )
    }
  } finally {
    client.close()
  }
  await begin(options, copied, doneBefore)
  return copied.map(({ topic, offset }) => ({ topic, offset }))
}

async function copiedTopics({ from, postgres, tables }: CopyReplicaOptions): Promise<CopiedTopic[]> {
  const known = await readKnownJournals(postgres as never)
  const text = `SELECT (${firstOffset})::float8 AS offset FROM replica_topics WHERE topic = $1`
  const copied: CopiedTopic[] = []
  for (const [topic, table] of tables) {
    const key = stateKey(topic, from.number)
    const { rows } = await postgres.query<{ offset: number | null }>(text, [key])
    const sourceId = known.get(key)?.id
    if (sourceId === undefined) throw new BackupError(`Replica ${from.number} has no position of topic ${topic} yet.`)
    copied.push({ topic, table, offset: rows[0]?.offset ?? 0, sourceId, id: randomUUID() })
  }
  return copied
}

/** Resolves when QuestDB answers. Rejects if it lacks positions of the source. */
async function untilCopied(exec: Exec, copied: readonly CopiedTopic[], signal: AbortSignal): Promise<void> {
  while (!(await isUp(exec))) await sleep(pauseMs, undefined, { signal })
  for (const { topic, offset, sourceId } of copied) {
    const position = await shownPosition(exec, sourceId)
    if (position !== undefined && position >= offset) continue
    throw new BackupError(`The new QuestDB is not a copy: it lacks records of topic ${topic} before offset ${offset}.`)
  }
}

async function isUp(exec: Exec): Promise<boolean> {
  try {
    await exec('SELECT 1')
    return true
  } catch (error) {
    if (error instanceof QuestdbError) return false
    throw error
  }
}

async function begin(
  { from, to, postgres }: CopyReplicaOptions,
  copied: readonly CopiedTopic[],
  doneBefore: readonly number[],
): Promise<void> {
  await postgres.query('BEGIN')
  try {
    for (const { topic, offset, id } of copied) {
      const keys = [stateKey(topic, from.number), stateKey(topic, to.number)]
      for (const text of copySql) await postgres.query(text, keys)
      const topicText = 'INSERT INTO replica_topics (topic, committed_offset, committed_at) VALUES ($1, $2, now())'
      await postgres.query(topicText, [keys[1], offset])
      await postgres.query(journalSql, [...keys, id])
    }
    await postgres.query('DELETE FROM hourly_view WHERE replica = $1', [to.number])
    const doneSince = await listDoneSince(postgres, doneBefore)
    await eraseAgain(postgres, doneSince)
    // A running job leaves the replica out, so it is restarted.
    const runningText = "UPDATE erase_jobs SET state = 'waiting' WHERE state = 'running' RETURNING id::float8 AS id"
    const { rows } = await postgres.query<{ id: number }>(runningText)
    await postgres.query('UPDATE replicas SET lost = NULL WHERE number = $1', [to.number])
    await postgres.query(`NOTIFY ${publishedChannel}`)
    // The leading node looks for waiting jobs after this feed entry.
    const erase = { kind: 'erase', ids: [...doneSince, ...rows.map(({ id }) => id)] } as const
    await appendChanges(postgres, [erase], execTimeoutMs)
    await postgres.query('COMMIT')
  } catch (error) {
    await postgres.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

const letterColumns = 'id, at, reason, series, symbol, time, "values", further, record'
const copySql = [
  'DELETE FROM replica_topics WHERE topic = $2 AND $1 <> $2',
  'DELETE FROM replica_tombstones WHERE topic = $2 AND $1 <> $2',
  'DELETE FROM replica_dead_letters WHERE topic = $2 AND $1 <> $2',
  `INSERT INTO replica_tombstones (topic, series, before_offset)
    SELECT $2, series, before_offset FROM replica_tombstones WHERE topic = $1`,
  `INSERT INTO replica_dead_letters (topic, ${letterColumns})
    SELECT $2, ${letterColumns} FROM replica_dead_letters WHERE topic = $1`,
]

const journalSql = `INSERT INTO applied_journals AS known (journal, id, since)
  SELECT $2, $3, since FROM applied_journals WHERE journal = $1
  ON CONFLICT (journal) DO UPDATE SET id = excluded.id, since = excluded.since, began_empty = false`
