/** Figures by buckets of time of a device that has been on several shards: a bucket in which it moved has rows of both. */

import { type Place, placesWithin } from '../../placement/placement.ts'
import type { ColumnsRequest } from '../questdb/questdb-export.ts'
import { whole } from '../questdb/sql-literals.ts'
import type { OpenShard } from '../shards/shard-reads.ts'

export type OpenReader = (shard: number) => Pick<ReturnType<OpenShard>, 'reader'>

/** How two figures of one bucket become one; a mean by the column with the number of its values. */
export type Joining = 'key' | 'sum' | 'min' | 'max' | 'last' | { readonly meanBy: number }

interface Asked {
  readonly places: readonly Place[]
  readonly fromUs: number
  readonly toUs: number
}

type Columns = readonly [Float64Array, ...Float64Array[]]

/** The columns of a statement over the range, with one row for each key. */
export async function readFigures(
  open: OpenReader,
  { places, fromUs, toUs }: Asked,
  requestOf: (part: Place) => ColumnsRequest,
  joinings: readonly Joining[],
  signal: AbortSignal,
): Promise<Columns> {
  const parts: Columns[] = []
  for (const part of placesWithin(places, fromUs, toUs)) {
    parts.push(await open(part.shard).reader.read(requestOf(part), signal))
  }
  return joinedFigures(parts, joinings)
}

/** In the order in which the keys come. */
export function joinedFigures(parts: readonly Columns[], joinings: readonly Joining[]): Columns {
  const [first] = parts
  if (parts.length === 1 && first !== undefined) return first
  const rows = new Map<string, number[]>()
  for (const [keys, ...others] of parts) {
    for (let at = 0; at < keys.length; at++) {
      const row = [keys, ...others].map(column => column[at] as number)
      const key = row.filter((_, column) => joinings[column] === 'key').join()
      const before = rows.get(key)
      rows.set(
        key,
        before === undefined ? row : joinings.map((joining, column) => joined(joining, column, before, row)),
      )
    }
  }
  const all = [...rows.values()]
  return joinings.map((_, column) => Float64Array.from(all, row => row[column] as number)) as unknown as Columns
}

function joined(joining: Joining, column: number, before: readonly number[], after: readonly number[]): number {
  const [a, b] = [before[column] as number, after[column] as number]
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) ? b : a
  if (joining === 'sum') return a + b
  if (joining === 'min') return Math.min(a, b)
  if (joining === 'max') return Math.max(a, b)
  if (joining === 'key' || joining === 'last') return b
  const [countOfA, countOfB] = [before[joining.meanBy] as number, after[joining.meanBy] as number]
  return (a * countOfA + b * countOfB) / (countOfA + countOfB)
}

/** The bucket and the series of a row of figures. */
export const keySql = 'cast(bucket AS DOUBLE) bucket, cast(series AS DOUBLE) series'

export function bucketSql(stepUs: number): string {
  return `cast(ts AS LONG) / ${whole(stepUs)} * ${whole(stepUs)} bucket`
}
