/** The rows of `idempotency_keys`. Each statement has a time limit on this side: a frozen server enforces no limit. */

import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'

/** A key of a writer. */
interface RowId {
  writer: string
  /** SHA-256. */
  keyDigest: Buffer
}

export interface KeyRow extends RowId {
  /** SHA-256 of everything that must match in two requests with one key. */
  fingerprint: Buffer
  /** Time of the reading in epoch microseconds. Undefined where readings have their own times. */
  stampUs: number | undefined
  expiresMs: number
  /** Result of `markOf` for the stored records. */
  storedAs: string | undefined
}

export interface StoredMark extends RowId {
  storedAs: string
}

/** `of` identifies the devices. An expired key that is claimed again has another expiry, so earlier marks do not match. */
export function markOf({ expiresMs }: Pick<KeyRow, 'expiresMs'>, of: string): string {
  return `${expiresMs} ${of}`
}

export interface Room {
  rowsPerWriterMax: number
  /** Rows of all writers. */
  rowsMax: number
}

export interface Inserted extends RowId {
  outcome: 'claimed' | 'too many of writer' | 'too many'
}

export interface KeyRows {
  /**
   * Inserts rows with new keys in order while there is room, and replaces expired ones. An existing key has no outcome. Keys must
   * be distinct.
   */
  insert(rows: readonly KeyRow[], room: Room, nowMs: number): Promise<Inserted[]>
  find(ids: readonly RowId[], nowMs: number): Promise<KeyRow[]>
  /** Marks the records of these keys as stored. */
  mark(marks: readonly StoredMark[]): Promise<void>
  /** Removes at most this many expired rows, and returns their number. */
  removeExpired(nowMs: number, countMax: number): Promise<number>
}

interface SqlId {
  writer: string
  key_digest: Buffer
}

interface SqlRow extends SqlId {
  fingerprint: Buffer
  stamp_us: number | null
  expires_at: Date
  stored_as: string | null
}

const answerMsMax = 4000

export function createKeyRows(pool: Pick<pg.Pool, 'query'>): KeyRows {
  async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await pool.query<Row>({ text, values, query_timeout: answerMsMax } as pg.QueryConfig)
    return rows
  }

  return {
    async insert(rows, { rowsPerWriterMax, rowsMax }, nowMs) {
      const inserted = await query<{ of_writer: string; of_key: Buffer; outcome: Inserted['outcome'] }>(
        `SELECT * FROM claim_idempotency_keys($1::text[], $2::bytea[], $3::bytea[], $4::float8[], $5::float8[],
           to_timestamp($6::float8 / 1000), $7::integer, $8::integer)`,
        [
          ...idsOf(rows),
          rows.map(row => row.fingerprint),
          rows.map(row => row.stampUs ?? null),
          rows.map(row => row.expiresMs),
          nowMs,
          rowsPerWriterMax,
          rowsMax,
        ],
      )
      if (inserted.length > rows.length) throw bug(`${inserted.length} rows are inserted of ${rows.length}`)
      return inserted.map(({ of_writer, of_key, outcome }) => ({ writer: of_writer, keyDigest: of_key, outcome }))
    },
    async find(ids, nowMs) {
      const rows = await query<SqlRow>(
        `SELECT writer, key_digest, fingerprint, stamp_us::float8 AS stamp_us, expires_at, stored_as
         FROM idempotency_keys
         WHERE (writer, key_digest) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))
         AND expires_at > to_timestamp($3::float8 / 1000)`,
        [...idsOf(ids), nowMs],
      )
      return rows.map(({ writer, key_digest, fingerprint, stamp_us, expires_at, stored_as }) => {
        const expiresMs = expires_at.getTime()
        const known = { stampUs: stamp_us ?? undefined, expiresMs, storedAs: stored_as ?? undefined }
        return { writer, keyDigest: key_digest, fingerprint, ...known }
      })
    },
    async mark(marks) {
      const storedAs = marks.map(mark => mark.storedAs)
      await query('SELECT mark_idempotency_keys($1::text[], $2::bytea[], $3::text[])', [...idsOf(marks), storedAs])
    },
    async removeExpired(nowMs, countMax) {
      const [row] = await query<{ count: number }>(
        'SELECT remove_expired_idempotency_keys(to_timestamp($1::float8 / 1000), $2::integer) AS count',
        [nowMs, countMax],
      )
      return row?.count ?? 0
    },
  }
}

function idsOf(ids: readonly RowId[]): [writers: string[], keyDigests: Buffer[]] {
  return [ids.map(id => id.writer), ids.map(id => id.keyDigest)]
}
