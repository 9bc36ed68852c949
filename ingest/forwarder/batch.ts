/** What a lane sends at a time: its rows go out in one or more requests. */

import { type Absent, noneAbsent } from './row-format.ts'

/** Some ten thousand rows: so many do not wait for more. */
export const bytesWorthSending = 700 * 1024

export interface Batch {
  bytes: Uint8Array
  view: DataView
  parts: Part[]
  /** Numbers of the series that have rows in it; one may be named twice. */
  series: Iterable<number>
  /** Some of the rows bring their own time, so that a later value for the same series and time may come. */
  hasClientTimes: boolean
  /** The time of its oldest row; Infinity when it has none. */
  oldestUs: number
  /** Custom series that records leave out and may take away, by their offsets; most leave none out. */
  absent: ReadonlyMap<number, Absent>
  /** Where the record at this offset stands in the journal. */
  positionOf: (offset: number) => number
}

/** Offsets of records in the order in which they are sent over one connection; -1 is left out. */
export interface Part {
  connection: number
  offsets: Int32Array
  count: number
}

/** The custom series that the record at this offset may take away. */
export function absentAt({ absent }: Batch, offset: number): Absent {
  return absent.size === 0 ? noneAbsent : (absent.get(offset) ?? noneAbsent)
}
