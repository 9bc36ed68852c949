/**
 * Lists the files of a journal's copy, while its forwarder is held and removes nothing. Files beside the segments come first, and
 * the journal's end is read afterwards: a dead letter replayed meanwhile is then in one of the two. The stamps come last, since
 * they may be ahead of the segments but never behind them. Erasures are not included: a copy of the registry of series has newer
 * ones.
 */

import type { Disk } from './disk.ts'
import { listSegments, segmentName } from './segments.ts'

export interface JournalFile {
  name: string
  /** The rest of the file does not belong to the copy. */
  bytesMax: number
  /** It may be removed at any time. */
  isOptional: boolean
}

const sidePattern = /^(checkpoint|dead-\d{16}\.json|quarantine-\d{16}\.(tail|middle))$/

export function filesBesideSegments(disk: Disk): JournalFile[] {
  const names = disk.list().filter(name => sidePattern.test(name))
  return names.map(name => ({ name, bytesMax: Number.POSITIVE_INFINITY, isOptional: true }))
}

/** `end`: an end of the journal read after the files beside it were copied. */
export function segmentsAndStamps(disk: Disk, end: number): JournalFile[] {
  const starts = listSegments(disk).filter(start => start < end)
  const segments = starts.map(start => ({ name: segmentName(start), bytesMax: end - start, isOptional: false }))
  return [...segments, { name: 'stamps', bytesMax: Number.POSITIVE_INFINITY, isOptional: true }]
}
