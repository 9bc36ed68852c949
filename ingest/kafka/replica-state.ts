/**
 * The state of a replica in PostgreSQL, where every process finds it: up to where its topics are forwarded, which series are
 * erased, which rows QuestDB refused.
 *
 * Each method has a time limit, of each statement, and rejects when it has passed. While PostgreSQL is away that is an error of
 * which `isUnavailable` tells so: nothing is lost, and the caller tries again. Every change can be made twice, so the caller
 * also tries again where the outcome is unknown (OutcomeUnknown); what is to be minded is said at `takeRewind`. Nothing is
 * committed meanwhile: the topics keep what was sent, and whoever forwards next sends it again. The forwarder itself has to
 * stop in any case, for it loses the replica with its connection (replica-lock.ts).
 *
 * Offsets are those of Kafka, below 2^53. That of a topic is the first one that QuestDB may lack.
 */

import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import type { DeadLetter } from '../forwarder/dead-letter.ts'
import type { TableDescription } from '../table.ts'
import { isRewoundSql, reachedOffsetSql } from './applied-offset.ts'
import { type ForwardStatus, type PublishedStatus, readPublished } from './forward-status.ts'
import { publishedChannel } from './published-state.ts'
import { createReplicaLetters, insertLetters, type ReplicaLetters } from './replica-letters.ts'
import { replicaOfSql, stateKey } from './topic-names.ts'

/** Which process forwards a replica, and since when: by each process that takes it over the epoch rises. */
export interface ReplicaTenure {
  /** Its number, from 1 on. */
  replica: number
  epoch: number
  /** The name of the process, for people. */
  holder: string
}

/**
 * The records of a series are erased, custom series as `erasedCustom` tells them: wherever they stand, as no other series ever gets
 * the number. All that were let in before stand before the offset, but for what was under way at a node.
 */
export type Tombstone = [series: number, beforeOffset: number]

export interface ReplicaStateOptions {
  pool: pg.Pool
  /** Undefined in a process that does not forward; there `commit` and `takeRewind` reject with LostReplica. */
  tenure: ReplicaTenure | undefined
  /** The replicas whose state it is: that of the tenure, or all that a process reads. The default is replica 1. */
  replicas?: readonly number[]
  /** What the records of a topic are, by its name. */
  tables: ReadonlyMap<string, TableDescription>
  /** How long PostgreSQL may take for each statement. */
  stepMs?: number
}

export interface ReplicaState {
  /**
   * Where to begin, undefined when nothing was ever committed: the committed offset, or the one to which a rewind is asked for
   * when that is lower; of several replicas the highest one. And the tombstones.
   */
  load(topic: string): Promise<{ offset: number | undefined; tombstones: Tombstone[] }>
  /**
   * Everything before it is in the QuestDB of a replica, as was published last; undefined while nothing was committed. What is sent again after a takeover, since
   * QuestDB does not sync it, counts as being there until QuestDB is found to have lost rows.
   */
  appliedOffset(topic: string): Promise<number | undefined>
  /**
   * QuestDB has all that stands before the offset, but for these letters. In one transaction, so that a record is behind the
   * committed offset or in a letter; the caller removes its own copy of a letter afterwards. An offset below the committed one
   * leaves that; a letter that is there stays as it is, and what is erased by tombstones gets into none. Rejects, with nothing
   * done, with LostReplica when another process has taken the replica over, and with TooManyLetters.
   */
  commit(topic: string, offset: number, letters: readonly DeadLetter[], status?: ForwardStatus): Promise<void>
  /** Stores the status and notifies other processes (`barograph_replica`), as `commit` does. Rejects with LostReplica as that does. */
  publish(topic: string, status: ForwardStatus): Promise<void>
  /** What was published last, by state key. */
  published(): Promise<Map<string, PublishedStatus>>
  /**
   * Erases these series, custom ones as `erasedCustom` tells them. No letter of them is committed from now on; those that were are
   * erased by `letters.erase`, afterwards. What was let in of them stands before the offset.
   */
  addTombstones(topic: string, series: readonly number[], beforeOffset: number): Promise<void>
  /** Those that a replica has not confirmed, unless it is lost. */
  unconfirmedTombstones(topic: string): Promise<Tombstone[]>
  /** Nothing that they erase is in flight or is sent any more, by whichever process. Rejects with LostReplica as `commit` does. */
  confirmTombstones(topic: string, tombstones: readonly Tombstone[]): Promise<void>
  /** The topic begins at this offset. */
  pruneTombstones(topic: string, logStart: number): Promise<void>
  /**
   * Asks the process that forwards the replica to send everything again from this offset on: for a process that lost the replica while it
   * had requests in flight, since an older value that such a request brings late may have replaced a newer one of its successor.
   * It first destroys its connections to QuestDB. The offset is that of the oldest record in a request which was not answered
   * when its last successful heartbeat began: until then nobody else can have sent.
   */
  requestRewind(topic: string, offset: number): Promise<void>
  /**
   * The lowest offset that was asked for since the last call, undefined when there is none; the committed offset is not above
   * it any more. The caller sends again from there, and commits nothing that it has found applied before. When it rejects, that
   * may be done, so that the caller begins again from what `load` gives. Rejects with LostReplica as `commit` does. Costs one
   * small query where nothing was asked for.
   */
  takeRewind(topic: string): Promise<number | undefined>
  readonly letters: ReplicaLetters
}

/** Another process has taken the replica over: this one must send nothing more for it. */
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

/** Notified when something of a topic was published or confirmed. */
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
        // First, since it locks the topic: a tombstone that comes later is seen by the erase of letters that follows it.
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

/** No other process takes the replica over before the transaction ends. */
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
 * Where the next forwarder begins, of a row of `replica_topics`; null for the start of the topic. `least` would take the one that is there
 * where the other is null.
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

/** What was told to be applied is not any more. */
const takeRewindSql = `UPDATE replica_topics SET committed_offset = ${firstOffset}, rewind_to = NULL,
  status = CASE WHEN ${isRewoundSql} THEN NULL ELSE status END WHERE topic = $1`
