/** Recovers the journal at a start: finds its end, and cuts off incomplete data there. */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from './disk.ts'
import { groupHeaderLength } from './group.ts'
import { SegmentReader } from './segment-reader.ts'
import { checkpointOf, listSegments, quarantineName, segmentName } from './segments.ts'

export interface JournalEnd {
  position: number
  /** Number of records so far. */
  ordinal: number
  /** The last assigned stamp; 0 before the first. */
  lastStampUs: number
}

export interface Recovered {
  end: JournalEnd
  /** Start of the oldest segment, or the end without segments. */
  start: number
  /** Bytes after the last whole group that were cut off and quarantined. */
  tornBytes: number
}

/**
 * Reads only the newest segment, so that a start does not depend on the length of the backlog. The forwarder finds, quarantines
 * and logs earlier damage.
 */
export function recoverJournal(disk: Disk): Recovered {
  let tornBytes = 0
  for (const start of listSegments(disk).reverse()) {
    const found = scanSegment(disk, start)
    tornBytes += found.tornBytes
    if (found.end === undefined) continue
    const end = behindCheckpoint(disk, found.end)
    if (end.position < found.end.position || end.position < start) {
      throw bug(`the journal ends at ${end.position}, and its last group at ${found.end.position}`)
    }
    return { end, start: listSegments(disk)[0] ?? start, tornBytes }
  }
  const nothing = { position: 0, ordinal: 0, lastStampUs: 0 }
  const end = behindCheckpoint(disk, nothing)
  return { end, start: end.position, tornBytes }
}

/**
 * The forwarder may have passed this end, with a group that a failed sync has lost. New groups must not have positions that the
 * checkpoint calls applied.
 */
function behindCheckpoint(disk: Disk, end: JournalEnd): JournalEnd {
  return { ...end, position: Math.max(end.position, checkpointOf(disk)) }
}

function scanSegment(disk: Disk, start: number): { end: JournalEnd | undefined; tornBytes: number } {
  const file = disk.open(segmentName(start), false)
  const reader = new SegmentReader(disk)
  try {
    const size = file.size()
    const end = lastGroupEnd(reader, start, start + size)
    const cutAt = end === undefined ? 0 : end.position - start
    if (cutAt > size) throw bug(`segment ${start} of ${size} bytes ends at ${cutAt}`)
    const torn = withoutTrailingZeros(file, cutAt, size)
    if (torn.length > 0) {
      disk.replace(quarantineName(start + cutAt, 'tail'), torn)
      disk.syncDirectory()
    }
    // A segment without a whole group is removed, so that its name is free for the next one that starts there.
    if (end === undefined) disk.remove(segmentName(start))
    else {
      if (size > cutAt) file.truncate(cutAt)
      // A killed process may have left groups only in the system's memory. They count from now on.
      file.sync()
    }
    disk.syncDirectory()
    return { end, tornBytes: torn.length }
  } finally {
    reader.close()
    file.close()
  }
}

function lastGroupEnd(reader: SegmentReader, start: number, limit: number): JournalEnd | undefined {
  let end: JournalEnd | undefined
  let position = start
  while (position < limit) {
    const chunk = reader.read(position, limit)
    for (const group of chunk.groups) {
      end = {
        position: group.position + groupHeaderLength + group.bodyLength,
        ordinal: group.firstOrdinal + group.recordCount,
        lastStampUs: group.lastStampUs,
      }
    }
    if (chunk.next <= position) break
    position = chunk.next
  }
  return end
}

function withoutTrailingZeros(file: { read(bytes: Uint8Array, position: number): number }, from: number, to: number) {
  const bytes = new Uint8Array(Math.max(0, to - from))
  const count = file.read(bytes, from)
  const last = bytes.subarray(0, count).findLastIndex(byte => byte !== 0)
  return bytes.subarray(0, last + 1)
}
