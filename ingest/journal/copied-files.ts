/**
 * Which files make up a copy of a journal, while its forwarder is held: nothing is removed then. First what is beside the
 * segments, and its end is asked for after that: a dead letter that is replayed meanwhile is then in the one or in the other.
 * The stamps come last, for they may be ahead of the segments and never behind them. What was erased is not among them: who
 * copies the registry of series as well knows better what must not come back.
 */

import type { Disk } from './disk.ts'
import { listSegments, segmentName } from './segments.ts'

export interface JournalFile {
  name: string
  /** More of the file does not belong to the copy. */
  bytesMax: number
  /** It may go at any time. */
  isOptional: boolean
}

const sidePattern = /^(checkpoint|dead-\d{16}\.json|quarantine-\d{16}\.(tail|middle))$/

export function filesBesideSegments(disk: Disk): JournalFile[] {
  const names = disk.list().filter(name => sidePattern.test(name))
  return names.map(name => ({ name, bytesMax: Number.POSITIVE_INFINITY, isOptional: true }))
}

/** `end` is where the journal ended at some moment since the files beside it were copied. */
export function segmentsAndStamps(disk: Disk, end: number): JournalFile[] {
  const starts = listSegments(disk).filter(start => start < end)
  const segments = starts.map(start => ({ name: segmentName(start), bytesMax: end - start, isOptional: false }))
  return [...segments, { name: 'stamps', bytesMax: Number.POSITIVE_INFINITY, isOptional: true }]
}
