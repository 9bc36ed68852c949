/** The rows of `idempotency_keys`. Each statement has a time limit on this side: a frozen server keeps none of its own. */

import type pg from 'pg'
import { bug } from '../../limits/bug.ts'

/** A key of a writer. */
interface RowId {
  writer: string
  /** SHA-256. */
  keyDigest: Buffer
}

export interface KeyRow extends RowId {
  /** SHA-256 of all that has to be alike in two requests with one key. */
  fingerprint: Buffer
  /** Time of the reading, epoch microseconds; undefined where readings have times of their own. */
  stampUs: number | undefined
  expiresMs: number
}

export interface KeyRows {
  /** Inserts the rows whose keys are not there, and returns those. An expired row is replaced, and not new. */
  insert(rows: readonly KeyRow[], nowMs: number): Promise<(RowId & { isNew: boolean })[]>
  find(ids: readonly RowId[], nowMs: number): Promise<KeyRow[]>
  /** Removes at most so many rows that have expired, and returns the writer of each. */
  removeExpired(nowMs: number, countMax: number): Promise<string[]>
  /** The number of rows of each writer. */
  counts(): Promise<Map<string, number>>
}

interface SqlId {
  writer: string
  key_digest: Buffer
}

interface SqlRow extends SqlId {
  fingerprint: Buffer
  stamp_us: number | null
  expires_at: Date
}

const answerMsMax = 4000

export function createKeyRows(pool: Pick<pg.Pool, 'query'>): KeyRows {
  async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await pool.query<Row>({ text, values, query_timeout: answerMsMax } as pg.QueryConfig)
    return rows
  }

  return {
    async insert(rows, nowMs) {
      const values = [
        ...idsOf(rows),
        rows.map(row => row.fingerprint),
        rows.map(row => row.stampUs ?? null),
        rows.map(row => row.expiresMs),
      ]
      const inserted = await query<SqlId & { is_new: boolean }>(
        `INSERT INTO idempotency_keys AS known (writer, key_digest, fingerprint, stamp_us, expires_at)
         SELECT writer, key_digest, fingerprint, stamp_us, to_timestamp(expires_ms / 1000)
         FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::float8[], $5::float8[])
         AS given (writer, key_digest, fingerprint, stamp_us, expires_ms)
         ON CONFLICT (writer, key_digest) DO UPDATE
         SET fingerprint = excluded.fingerprint, stamp_us = excluded.stamp_us, expires_at = excluded.expires_at
         WHERE known.expires_at <= to_timestamp($6::float8 / 1000)
         RETURNING writer, key_digest, known.xmax = 0 AS is_new`,
        [...values, nowMs],
      )
      if (inserted.length > rows.length) throw bug(`${inserted.length} rows are inserted of ${rows.length}`)
      return inserted.map(({ writer, key_digest, is_new }) => ({ writer, keyDigest: key_digest, isNew: is_new }))
    },
    async find(ids, nowMs) {
      const rows = await query<SqlRow>(
        `SELECT writer, key_digest, fingerprint, stamp_us::float8 AS stamp_us, expires_at
         FROM idempotency_keys
         WHERE (writer, key_digest) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))
         AND expires_at > to_timestamp($3::float8 / 1000)`,
        [...idsOf(ids), nowMs],
      )
      return rows.map(({ writer, key_digest, fingerprint, stamp_us, expires_at }) => {
        const expiresMs = expires_at.getTime()
        return { writer, keyDigest: key_digest, fingerprint, stampUs: stamp_us ?? undefined, expiresMs }
      })
    },
    async removeExpired(nowMs, countMax) {
      const removed = await query<Pick<SqlId, 'writer'>>(
        `DELETE FROM idempotency_keys WHERE (writer, key_digest) IN (
           SELECT writer, key_digest FROM idempotency_keys WHERE expires_at <= to_timestamp($1::float8 / 1000)
           ORDER BY expires_at LIMIT $2
         ) RETURNING writer`,
        [nowMs, countMax],
      )
      return removed.map(({ writer }) => writer)
    },
    async counts() {
      const rows = await query<{ writer: string; count: number }>(
        'SELECT writer, count(*)::int AS count FROM idempotency_keys GROUP BY writer',
        [],
      )
      return new Map(rows.map(({ writer, count }) => [writer, count]))
    },
  }
}

function idsOf(ids: readonly RowId[]): [writers: string[], keyDigests: Buffer[]] {
  return [ids.map(id => id.writer), ids.map(id => id.keyDigest)]
}
