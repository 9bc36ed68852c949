/**
 * The state of a replica in PostgreSQL, shared by all processes: the forwarded offsets of its topics, erased series, and rows
 * that QuestDB rejected.
 *
 * Each method limits the time of each statement, and rejects beyond it. While PostgreSQL is unavailable the error passes
 * `isUnavailable`: nothing is lost, and the caller retries. Changes are idempotent, so the caller also retries after an unknown
 * outcome (OutcomeUnknown); `takeRewind` documents its exception. Nothing is committed meanwhile: the topics keep the sent
 * records, and the next forwarder sends them again. The forwarder itself has to stop in any case, since it loses the replica with
 * its connection (lock.ts).
 *
 * Offsets are Kafka's, below 2^53. A topic's offset is the first one that QuestDB may lack.
 */

import type pg from 'pg'
import { bug } from '../../../store/limits/bug.ts'
import { inTransaction, type Transaction } from '../../../store/postgres/transaction.ts'
import type { DeadLetter } from '../../forwarder/dead-letters.ts'
import type { TableDescription } from '../../table.ts'
import { replicaOfSql, stateKey } from '../client/names.ts'
import { type ForwardStatus, type PublishedStatus, publishedChannel, readPublished } from './forward-status.ts'
import { createReplicaLetters, insertLetters, type ReplicaLetters } from './letters.ts'

/** The process that forwards a replica. The epoch increases with each takeover. */
export interface ReplicaTenure {
  /** Its number, from 1 on. */
  replica: number
  epoch: number
  /** Display name of the process. */
  holder: string
}

/**
 * Erases the records of a series, a custom one given as `erasedCustom` number, at any position, since the number is never reused.
 * All records admitted before precede the offset, except those in progress at a node.
 */
export type Tombstone = [series: number, beforeOffset: number]

interface ReplicaStateOptions {
  pool: pg.Pool
  /** Undefined in a process that does not forward. There `commit` and `takeRewind` reject with LostReplica. */
  tenure: ReplicaTenure | undefined
  /** The replicas of the state: the tenure's, or all that a process reads. Default: replica 1. */
  replicas?: readonly number[]
  /** Tables of the topics' records, by topic. */
  tables: ReadonlyMap<string, TableDescription>
  /** Time limit of each statement. */
  stepMs?: number
}

export interface ReplicaState {
  /**
   * Returns the start offset, undefined when nothing was ever committed: the committed offset, or the offset of a requested
   * rewind if lower; of several replicas the highest. Includes the tombstones.
   */
  load(topic: string): Promise<{ offset: number | undefined; tombstones: Tombstone[] }>
  /**
   * Everything before it is in the QuestDB of a replica, by the last published status. Undefined while nothing was committed.
   * Rows sent again after a takeover, for a QuestDB without sync, count as present until a loss is found.
   */
  appliedOffset(topic: string): Promise<number | undefined>
  /**
   * Commits that QuestDB has everything before the offset, except these dead letters. One transaction ensures that a
   * record is after the committed offset or in a dead letter. The caller removes its own copy of a dead letter
   * afterwards. An offset below the committed one does not lower it. Existing dead letters stay unchanged, and erased
   * values are not stored. Rejects without a change: with LostReplica when another process has taken over the replica,
   * and with TooManyLetters.
   */
  commit(topic: string, offset: number, letters: readonly DeadLetter[], status?: ForwardStatus): Promise<void>
  /**
   * Stores the status and notifies other processes (`barograph_replica`), like `commit`. Rejects with LostReplica like `commit`.
   */
  publish(topic: string, status: ForwardStatus): Promise<void>
  /** The last published statuses, by state key. */
  published(): Promise<Map<string, PublishedStatus>>
  /**
   * Erases these series, custom ones given as `erasedCustom` numbers. Their dead letters are not committed from now on; call
   * `letters.erase` afterwards for committed ones. Admitted records of them precede the offset.
   */
  addTombstones(topic: string, series: readonly number[], beforeOffset: number): Promise<void>
  /** Tombstones that a replica has not confirmed, unless it is lost. */
  unconfirmedTombstones(topic: string): Promise<Tombstone[]>
  /** Confirms that no process has erased records in flight or sends them any more. Rejects with LostReplica like `commit`. */
  confirmTombstones(topic: string, tombstones: readonly Tombstone[]): Promise<void>
  /** The topic begins at this offset. */
  pruneTombstones(topic: string, logStart: number): Promise<void>
  /**
   * Asks the forwarder of the replica to send everything from this offset on again. A process that lost the replica with requests
   * in flight calls it: an older value in a late request may have replaced its successor's newer one. It first destroys its
   * connections to QuestDB. The offset belongs to the oldest record in a request that was unanswered when its last successful
   * heartbeat began: until then no other process can have sent.
   */
  requestRewind(topic: string, offset: number): Promise<void>
  /**
   * Returns the lowest requested offset since the last call, or undefined, and lowers the committed offset to it. The caller
   * sends again from there, and discards earlier results about applied offsets. A rejected call may have taken effect, so the
   * caller starts again from `load`. Rejects with LostReplica like `commit`. Costs one small query without a request.
   */
  takeRewind(topic: string): Promise<number | undefined>
  readonly letters: ReplicaLetters
}

/** Another process has taken over the replica: this one must not send to it any more. */
export class LostReplica extends Error {
  constructor(tenure: ReplicaTenure | undefined) {
    super(
      tenure === undefined
        ? 'this process does not forward the replica'
        : `replica ${tenure.replica} was taken over by another process after epoch ${tenure.epoch}`,
    )
    this.name = 'LostReplica'
  }
}

const stepMsUsual = 4000

export function createReplicaState({
  pool,
  tenure,
  replicas = [tenure?.replica ?? 1],
  tables,
  stepMs = stepMsUsual,
}: ReplicaStateOptions): ReplicaState {
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> => {
    return (await pool.query<Row>({ text, values, query_timeout: stepMs } as pg.QueryConfig)).rows
  }
  const transact = <Result>(work: (transaction: Transaction) => Promise<Result>) =>
    inTransaction(pool, { stepMs }, work)
  const tableOf = (topic: string): TableDescription => {
    const table = tables.get(topic)
    if (table === undefined) throw bug(`there is no table of topic ${topic}`)
    return table
  }

  const keysOf = (topic: string) => replicas.map(replica => stateKey(topic, replica))
  /** The key of the replica that this process forwards to. */
  const keyOf = (topic: string) => stateKey(topic, tenure?.replica ?? replicas[0] ?? 1)

  return {
    async load(topic) {
      const [row] = await query<{ offset: number | null; tombstones: [number, number][] }>(loadSql, [keysOf(topic)])
      return { offset: row?.offset ?? undefined, tombstones: row?.tombstones ?? [] }
    },
    async appliedOffset(topic) {
      const [row] = await query<{ applied: number | null }>(appliedSql, [keysOf(topic)])
      return row?.applied ?? undefined
    },
    async commit(topic, offset, letters, status) {
      assertOffset(offset)
      await transact(async transaction => {
        await assertTenure(transaction, tenure)
        // Runs first, since it locks the topic: the erase of dead letters sees every later tombstone.
        await transaction.query(commitSql, [keyOf(topic), offset, tenure?.holder])
        if (letters.length > 0) await insertLetters(transaction, tableOf(topic), keyOf(topic), letters)
        if (status !== undefined) await publishIn(transaction, keyOf(topic), status)
      })
    },
    async publish(topic, status) {
      await transact(async transaction => {
        await assertTenure(transaction, tenure)
        await publishIn(transaction, keyOf(topic), status)
      })
    },
    published: () => readPublished(pool),
    async addTombstones(topic, series, beforeOffset) {
      assertOffset(beforeOffset)
      await transact(async transaction => {
        await transaction.query(lockTopicsSql, [keysOf(topic)])
        await transaction.query(addTombstonesSql, [keysOf(topic), series, beforeOffset])
      })
    },
    async unconfirmedTombstones(topic) {
      const rows = await query<{ series: number; before: number }>(unconfirmedSql, [keysOf(topic)])
      return rows.map(({ series, before }) => [series, before])
    },
    async confirmTombstones(topic, tombstones) {
      await transact(async transaction => {
        await assertTenure(transaction, tenure)
        await transaction.query(confirmSql, [keyOf(topic), JSON.stringify(tombstones)])
        await transaction.query(`NOTIFY ${publishedChannel}`)
      })
    },
    async pruneTombstones(topic, logStart) {
      await query('DELETE FROM replica_tombstones WHERE topic = $1 AND before_offset <= $2', [keyOf(topic), logStart])
    },
    async requestRewind(topic, offset) {
      assertOffset(offset)
      await query(requestRewindSql, [keyOf(topic), offset])
    },
    async takeRewind(topic) {
      const [asked] = await query('SELECT FROM replica_topics WHERE topic = $1 AND rewind_to IS NOT NULL', [
        keyOf(topic),
      ])
      if (asked === undefined) return undefined
      return await transact(async transaction => {
        await assertTenure(transaction, tenure)
        const { rows } = await transaction.query<{ offset: number | null }>(rewindSql, [keyOf(topic)])
        await transaction.query(takeRewindSql, [keyOf(topic)])
        return rows[0]?.offset ?? undefined
      })
    },
    letters: createReplicaLetters({ query, transact, tableOf, keysOf }),
  }
}

/** Prevents a takeover of the replica before the transaction ends. */
async function assertTenure(transaction: Transaction, tenure: ReplicaTenure | undefined): Promise<void> {
  const { rows } = await transaction.query('SELECT FROM replicas WHERE number = $1 AND epoch = $2 FOR SHARE', [
    tenure?.replica,
    tenure?.epoch,
  ])
  if (rows.length === 0) throw new LostReplica(tenure)
}

async function publishIn(transaction: Transaction, key: string, status: ForwardStatus): Promise<void> {
  await transaction.query(publishSql, [key, JSON.stringify(status)])
  await transaction.query(`NOTIFY ${publishedChannel}`)
}

function assertOffset(offset: number): void {
  if (!(Number.isSafeInteger(offset) && offset >= 0)) throw bug(`${offset} is not an offset`)
}

/**
 * SQL for the offset of a topic up to which QuestDB has its rows, from a row of `replica_topics`. The committed offset may be far
 * lower: without sync it marks the start of the records kept for sending again after a crash.
 */
const reportedApplied = "(status->>'applied')::bigint"
const reportedReached = `greatest(${reportedApplied}, (status->>'appliedBefore')::bigint)`

/** Null while nothing was committed. Records after a requested rewind are sent again; `least` would ignore a null. */
const upTo = (reported: string) => `CASE
  WHEN committed_offset IS NULL THEN NULL
  ELSE least(greatest(committed_offset, ${reported}), rewind_to)
END`

/** All rows before it are visible, by the last report. After a takeover it covers only rows sent again. */
export const appliedOffsetSql = upTo(reportedApplied)

/** Includes rows that earlier processes had seen applied, unless rows were lost since. */
const reachedOffsetSql = upTo(reportedReached)

/** True when the reported offset exceeds the rewind's. */
const isRewoundSql = `${reportedReached} > rewind_to`

/**
 * Start offset of the next forwarder, from a row of `replica_topics`; null for the start of the topic. `least` would ignore a
 * null.
 */
export const firstOffset = 'CASE WHEN committed_offset > rewind_to THEN rewind_to ELSE committed_offset END'

const loadSql = `SELECT
  (SELECT max(${firstOffset})::float8 FROM replica_topics WHERE topic = ANY($1)) AS "offset",
  (SELECT coalesce(json_agg(json_build_array(series, before_offset) ORDER BY series), '[]')
   FROM (SELECT series, max(before_offset) AS before_offset FROM replica_tombstones WHERE topic = ANY($1) GROUP BY series) AS each)
   AS tombstones`

const appliedSql = `SELECT max(${reachedOffsetSql})::float8 AS applied FROM replica_topics WHERE topic = ANY($1)`

const commitSql = `INSERT INTO replica_topics AS known (topic, committed_offset, committed_by, committed_at)
  VALUES ($1, $2, $3, now())
  ON CONFLICT (topic) DO UPDATE SET committed_offset = greatest(known.committed_offset, excluded.committed_offset),
    committed_by = excluded.committed_by, committed_at = excluded.committed_at`

const publishSql = `INSERT INTO replica_topics (topic, status) VALUES ($1, $2)
  ON CONFLICT (topic) DO UPDATE SET status = excluded.status`

const lockTopicsSql = `INSERT INTO replica_topics (topic) SELECT key FROM unnest($1::text[]) AS key ORDER BY key
  ON CONFLICT (topic) DO UPDATE SET topic = excluded.topic`

const addTombstonesSql = `INSERT INTO replica_tombstones AS known (topic, series, before_offset)
  SELECT DISTINCT key, series, $3::bigint FROM unnest($1::text[]) AS key, unnest($2::bigint[]) AS series
  ON CONFLICT (topic, series) DO UPDATE SET before_offset = greatest(known.before_offset, excluded.before_offset)`

const unconfirmedSql = `SELECT series::float8 AS series, max(before_offset)::float8 AS before FROM replica_tombstones
  WHERE topic = ANY($1) AND NOT EXISTS (SELECT FROM replicas WHERE number = ${replicaOfSql('topic')} AND lost IS NOT NULL)
    AND (confirmed_before IS NULL OR confirmed_before < before_offset) GROUP BY series ORDER BY before, series`

const confirmSql = `UPDATE replica_tombstones AS known SET confirmed_before = (given.pair->>1)::bigint
  FROM json_array_elements($2::json) AS given (pair) WHERE topic = $1 AND series = (given.pair->>0)::bigint`

const requestRewindSql = `INSERT INTO replica_topics AS known (topic, rewind_to) VALUES ($1, $2)
  ON CONFLICT (topic) DO UPDATE SET rewind_to = least(known.rewind_to, excluded.rewind_to)`

const rewindSql = 'SELECT rewind_to::float8 AS "offset" FROM replica_topics WHERE topic = $1 FOR UPDATE'

/** The reported applied offset is no longer valid. */
const takeRewindSql = `UPDATE replica_topics SET committed_offset = ${firstOffset}, rewind_to = NULL,
  status = CASE WHEN ${isRewoundSql} THEN NULL ELSE status END WHERE topic = $1`
