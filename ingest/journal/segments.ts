/**
 * The journal's files: segments, each named after its start position, which contain only groups; the checkpoint; and
 * the files of a copy.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from './disk.ts'

/** A new segment is opened when the current one has reached this length. */
export const segmentBytesMax = 32 * 1024 * 1024

const suffix = '.journal'

export function segmentName(startPosition: number): string {
  return `${String(startPosition).padStart(16, '0')}${suffix}`
}

/** Start positions of all segments, ascending. */
export function listSegments(disk: Disk): number[] {
  return disk
    .list()
    .filter(name => /^\d{16}\.journal$/.test(name))
    .map(name => Number(name.slice(0, 16)))
    .sort((a, b) => a - b)
}

/** Bytes outside groups are kept under this name, beside the segments, for an operator. */
export function quarantineName(position: number, kind: 'tail' | 'middle'): string {
  return `quarantine-${String(position).padStart(16, '0')}.${kind}`
}

const checkpointName = 'checkpoint'

/** The forwarder's progress, in a small file beside the journal. An old checkpoint only means that more is sent again. */
export function writeCheckpoint(disk: Disk, position: number): void {
  // A reader ignores an invalid position, and everything in the journal is sent again.
  if (!(Number.isSafeInteger(position) && position >= 0)) throw bug(`the checkpoint is to be ${position}`)
  disk.replace(checkpointName, Buffer.from(String(position)))
}

/** Position where the forwarder stopped, or the oldest segment if unknown. */
export function readCheckpoint(disk: Disk, end: number): number {
  const oldest = listSegments(disk)[0] ?? end
  const position = checkpointOf(disk)
  return position >= oldest && position <= end ? position : oldest
}

/** The position in the file, or 0 without one. */
export function checkpointOf(disk: Disk): number {
  try {
    const file = disk.open(checkpointName, false)
    const bytes = new Uint8Array(20)
    const count = file.read(bytes, 0)
    file.close()
    const text = Buffer.from(bytes.subarray(0, count)).toString()
    return /^\d+$/.test(text) ? Number(text) : 0
  } catch {
    return 0
  }
}

export interface JournalFile {
  name: string
  /** The rest of the file does not belong to the copy. */
  bytesMax: number
  /** It may be removed at any time. */
  isOptional: boolean
}

const sidePattern = /^(checkpoint|dead-\d{16}\.json|quarantine-\d{16}\.(tail|middle))$/

/**
 * Lists the files of a journal's copy, while its forwarder is held and removes nothing. Files beside the segments come first, and
 * the journal's end is read afterwards: a dead letter replayed meanwhile is then in one of the two. The stamps come last, since
 * they may be ahead of the segments but never behind them. Erasures are not included: a copy of the registry of series has newer
 * ones.
 */
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
