/** The journal's files: each is named after its start position, and contains only groups. */

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
