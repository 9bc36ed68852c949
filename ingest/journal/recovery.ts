/** What a start finds of the journal: where it ends, and whether something at the end had to be cut off. */

import { bug } from '../../store/limits/bug.ts'
import { checkpointOf } from './checkpoint.ts'
import type { Disk } from './disk.ts'
import { groupHeaderLength } from './group.ts'
import { SegmentReader } from './segment-reader.ts'
import { listSegments, quarantineName, segmentName } from './segments.ts'

export interface JournalEnd {
  position: number
  /** Records taken so far. */
  ordinal: number
  /** The last stamp that was given out; 0 before the first. */
  lastStampUs: number
}

export interface Recovered {
  end: JournalEnd
  /** Where the oldest segment starts, or the end when there is none. */
  start: number
  /** Bytes behind the last whole group that were cut off and kept in quarantine. */
  tornBytes: number
}

/**
 * Looks at the newest segment only, so that a start does not depend on the length of the backlog. Damage further up is
 * found, quarantined and logged when the forwarder gets there.
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
 * The forwarder may have been past this end, with a group that its failed sync has lost since. What is written next must
 * not stand where the checkpoint calls it applied.
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
    // A segment without one whole group goes, so that its name is free for the next one that starts there.
    if (end === undefined) disk.remove(segmentName(start))
    else {
      if (size > cutAt) file.truncate(cutAt)
      // A killed process may have left groups that only the system's memory holds, and from now on they count.
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
