/** The rows of several places as those of one, in the order of time and then of devices. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import type { Place } from '../../placement/placement.ts'
import { joinedColumn } from '../shards/joined.ts'
import type { ExportRows, ReadPiece } from './read-piece.ts'

interface Cursor {
  readonly place: Place
  /** The rows that were read, one behind the other. */
  readonly chunks: ExportRows[]
  /** From where on nothing was read; Infinity behind the last row. */
  nextUs: number
}

/** `read`: the first rows of a place. Gives more than `rowsMax` rows, or all that there are. */
export async function mergedRows(
  read: (place: Place, rowsMax: number) => Promise<ReadPiece>,
  places: readonly Place[],
  columnCount: number,
  rowsMax: number,
): Promise<ExportRows> {
  const cursors = places.map((place): Cursor => ({ place, chunks: [], nextUs: place.fromUs }))
  const chunkRows = Math.max(1, Math.ceil(rowsMax / places.length))
  for (;;) {
    const [first] = cursors.toSorted((a, b) => a.nextUs - b.nextUs)
    const untilUs = first?.nextUs ?? Number.POSITIVE_INFINITY
    const parts = cursors.flatMap(({ chunks }) => chunks.map(rows => ({ rows, count: countBefore(rows, untilUs) })))
    const count = parts.reduce((sum, part) => sum + part.count, 0)
    if (first === undefined || untilUs === Number.POSITIVE_INFINITY || count > rowsMax)
      return inOrder(parts, columnCount)
    const { rows, nextUs } = await read({ ...first.place, fromUs: untilUs }, chunkRows)
    first.chunks.push(rows)
    first.nextUs = nextUs ?? Number.POSITIVE_INFINITY
  }
}

function countBefore({ timesUs, order }: ExportRows, untilUs: number): number {
  return lowerBound(timesUs.subarray(0, order.length), untilUs)
}

/** The first rows of each part. */
function inOrder(
  parts: readonly { readonly rows: ExportRows; readonly count: number }[],
  columnCount: number,
): ExportRows {
  const columnsOf = (of: (rows: ExportRows) => Float64Array) =>
    joinedColumn(parts.map(({ rows, count }) => of(rows).subarray(0, count)))
  const timesUs = columnsOf(rows => rows.timesUs)
  const devices = columnsOf(rows => rows.devices)
  const values = Array.from({ length: columnCount }, (_, column) => {
    return columnsOf(rows => rows.values[column] as Float64Array)
  })
  const order = Uint32Array.from(timesUs.keys()).sort((a, b) => {
    return (timesUs[a] as number) - (timesUs[b] as number) || (devices[a] as number) - (devices[b] as number)
  })
  return { timesUs, devices, values, order }
}
