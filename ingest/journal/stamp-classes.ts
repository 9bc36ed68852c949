/**
 * The rows of `stamp_classes`: each of several processes that assign stamps has some classes exclusively. The bound of a class
 * lies above all of its stamps from any process.
 */

import type pg from 'pg'
import { stampModulus } from './stamp.ts'

/**
 * Twelve processes have four classes each. A stamp of a class comes every 50 µs, so one process assigns 20,000 a second. It is a
 * multiple of the modulus of a journal on disk, so that each class lies in one of that journal's classes.
 */
export const leasedModulus = 50

export interface LeasedClass {
  class: number
  /** Epoch microseconds: the bound before and after the statement. */
  beforeUs: number
  boundUs: number
}

interface LeaseRequest {
  /** Number of classes that the holder needs. */
  classesMax: number
  leaseMs: number
  /** Each class of the holder has its minimum bound. */
  boundsUs: ReadonlyMap<number, number>
}

export interface StampClassRows {
  /**
   * Renews the lease of the holder's classes, raises their bounds, and takes more classes where it has too few: free ones, or
   * expired ones, the lowest bound first.
   */
  lease(holder: string, request: LeaseRequest): Promise<LeasedClass[]>
  /** Releases the holder's classes. By class: an upper bound of all assigned stamps. */
  release(holder: string, boundsUs: ReadonlyMap<number, number>): Promise<void>
  /** `highestUs`: see `StampState`, from a journal on disk. All classes continue above it. */
  raise(highestUs: readonly number[]): Promise<void>
}

type Queryable = Pick<pg.Pool, 'query'>

const answerMsMax = 5_000

/**
 * Leases are renewed one at a time: a process that saw a class as free would lock it to check again, and its holder
 * would skip it as locked. Any fixed number serves. It is "barostmp" in ASCII.
 */
const leaseLock = '7089073111461817712'

export function createStampClassRows(pool: Queryable): StampClassRows {
  async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await pool.query<Row>({ text, values, query_timeout: answerMsMax } as pg.QueryConfig)
    return rows
  }

  return {
    async lease(holder, { classesMax, leaseMs, boundsUs }) {
      return await query<LeasedClass>(
        `WITH given AS (SELECT * FROM unnest($4::int[], $5::bigint[]) AS given (class, bound_us)),
         turn AS MATERIALIZED (SELECT pg_advisory_xact_lock($6::bigint)),
         mine AS (
           SELECT class, bound_us FROM turn, stamp_classes
           WHERE holder = $1::uuid OR holder IS NULL OR expires_at < clock_timestamp()
           ORDER BY holder IS NOT DISTINCT FROM $1::uuid DESC, holder IS NULL DESC, bound_us, class
           LIMIT $2 FOR UPDATE OF stamp_classes SKIP LOCKED
         )
         UPDATE stamp_classes AS leased
         SET holder = $1::uuid, expires_at = clock_timestamp() + $3::float8 * interval '1 ms',
           bound_us = greatest(mine.bound_us, given.bound_us)
         FROM mine LEFT JOIN given USING (class) WHERE leased.class = mine.class
         RETURNING leased.class, mine.bound_us::float8 AS "beforeUs", leased.bound_us::float8 AS "boundUs"`,
        [holder, classesMax, leaseMs, [...boundsUs.keys()], [...boundsUs.values()], leaseLock],
      )
    },
    async release(holder, boundsUs) {
      await query(
        `UPDATE stamp_classes AS leased
         SET holder = NULL, expires_at = NULL, bound_us = coalesce(given.bound_us, leased.bound_us)
         FROM stamp_classes AS mine LEFT JOIN unnest($2::int[], $3::bigint[]) AS given (class, bound_us) USING (class)
         WHERE leased.class = mine.class AND leased.holder = $1::uuid`,
        [holder, [...boundsUs.keys()], [...boundsUs.values()]],
      )
    },
    async raise(highestUs) {
      await query(
        `UPDATE stamp_classes SET bound_us = above.bound_us
         FROM unnest($1::bigint[]) WITH ORDINALITY AS above (bound_us, place)
         WHERE class % $2 = place - 1 AND stamp_classes.bound_us < above.bound_us`,
        [highestUs, stampModulus],
      )
    },
  }
}

/** `highestUs` of `StampState`, for a journal on disk: above the stamps of all processes that shared a topic before. */
export async function readHighestStamps(pool: Queryable): Promise<number[]> {
  const { rows } = await pool.query<{ residue: number; us: number }>(
    'SELECT class % $1 AS residue, max(bound_us)::float8 AS us FROM stamp_classes GROUP BY 1',
    [stampModulus],
  )
  const highestUs = Array<number>(stampModulus).fill(0)
  for (const { residue, us } of rows) highestUs[residue] = us
  return highestUs
}
