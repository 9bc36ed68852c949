/** A batch of a lane. Its rows are sent in one or more requests. */

import { type Absent, noneAbsent } from './row-format.ts'

/** Some ten thousand rows, which are sent without waiting for more. */
export const bytesWorthSending = 700 * 1024

export interface Batch {
  bytes: Uint8Array
  view: DataView
  parts: Part[]
  /** Numbers of the series with rows in it, possibly with duplicates. */
  series: Iterable<number>
  /** Some rows have the client's time, so a later value for the same series and time is possible. */
  hasClientTimes: boolean
  /** The time of its oldest row; Infinity without rows. */
  oldestUs: number
  /** Custom series that records omit and may erase, by the records' offsets. Most records omit none. */
  absent: ReadonlyMap<number, Absent>
  /** Position in the journal of the record at this offset. */
  positionOf: (offset: number) => number
}

/** Offsets of records in their order over one connection; -1 is skipped. */
export interface Part {
  connection: number
  offsets: Int32Array
  count: number
}

/** The custom series that the record at this offset may erase. */
export function absentAt({ absent }: Batch, offset: number): Absent {
  return absent.size === 0 ? noneAbsent : (absent.get(offset) ?? noneAbsent)
}
