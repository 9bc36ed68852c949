/** The id of a dead letter of a spool, by where its record stands there. */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from '../journal/disk.ts'
import { type GroupHeader, groupHeaderLength } from '../journal/group.ts'
import { offsetOf } from '../journal/record.ts'
import { type Chunk, SegmentReader } from '../journal/segment-reader.ts'

/** A group of the spool begins at `from`, and the record stands in it or in one of the next; the spool ends at `end`. */
export function letterIdAt(disk: Disk, position: number, from: number, end: number): number {
  const reader = new SegmentReader(disk)
  try {
    for (let at = from; at <= position; ) {
      const chunk = reader.read(at, end)
      const group = chunk.groups.find(({ position: start, bodyLength }) => {
        return position >= start && position < start + groupHeaderLength + bodyLength
      })
      // The header has the id of its first record.
      if (group !== undefined) return group.lastStampUs + placeIn(chunk, group, position)
      if (chunk.next === at) break
      at = chunk.next
    }
  } finally {
    reader.close()
  }
  throw bug(`no record of the spool stands at ${position}`)
}

function placeIn({ bytes, position: start }: Chunk, group: GroupHeader, position: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let place = 0
  let at = group.position + groupHeaderLength
  for (; at < position; place++) at += view.getUint16(at - start + offsetOf.length, true)
  if (at !== position) throw bug(`a record of the spool stands at ${at}, and one was sent from ${position}`)
  return place
}
