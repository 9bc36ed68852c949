/**
 * The rows of `stamp_classes`: of several processes that give out stamps, each has some classes for itself. The bound of a class
 * lies above all of its stamps, whoever gave them out.
 */

import type pg from 'pg'
import { stampModulus } from './stamp.ts'

/**
 * Twelve processes have four classes each. A stamp of a class comes every 50 µs, so one of them gives out 20,000 a second. It is a
 * multiple of the modulus of a journal on disk, so that each class lies in one of that journal's.
 */
export const leasedModulus = 50

export interface LeasedClass {
  class: number
  /** Epoch microseconds: the bound before and after the statement. */
  beforeUs: number
  boundUs: number
}

export interface LeaseRequest {
  /** How many classes the holder is to have. */
  classesMax: number
  leaseMs: number
  /** By class, the least bound that it is to have, of those that the holder has. */
  boundsUs: ReadonlyMap<number, number>
}

export interface StampClassRows {
  /**
   * Renews the lease of the classes that the holder has, raises their bounds, and takes classes where it has too few: free ones, or
   * those whose lease is over, the lowest bound first.
   */
  lease(holder: string, request: LeaseRequest): Promise<LeasedClass[]>
  /** Gives up the classes that the holder still has. By class, what no stamp that anybody gave out lies above. */
  release(holder: string, boundsUs: ReadonlyMap<number, number>): Promise<void>
  /** `highestUs` as `StampState` has it, of a journal on disk: all classes begin above it. */
  raise(highestUs: readonly number[]): Promise<void>
}

type Queryable = Pick<pg.Pool, 'query'>

const answerMsMax = 5_000

/**
 * Leases are renewed one at a time: one that saw a class as free would lock it to look again, and its holder would pass it over as
 * locked. Any fixed number serves; it is "barostmp" in ASCII.
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

/** `highestUs` as `StampState` has it, for a journal on disk: above the stamps of all processes that shared a topic before. */
export async function readHighestStamps(pool: Queryable): Promise<number[]> {
  const { rows } = await pool.query<{ residue: number; us: number }>(
    'SELECT class % $1 AS residue, max(bound_us)::float8 AS us FROM stamp_classes GROUP BY 1',
    [stampModulus],
  )
  const highestUs = Array<number>(stampModulus).fill(0)
  for (const { residue, us } of rows) highestUs[residue] = us
  return highestUs
}
