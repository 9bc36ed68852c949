/** Chunks of a journal as a reader gives them to the planners. */

import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { markFineTime } from '../../ingest/journal/record.ts'
import type { Chunk } from '../../ingest/journal/segment-reader.ts'
import { device, records } from '../support/journal-parts.ts'

export interface Row {
  device: number
  timeUs: number
  isLate: boolean
  /** A client's time with microseconds. */
  isFine?: boolean
}

export function recordOf({ device: number, timeUs, isLate, isFine = false }: Row): Buffer {
  const bytes = records(device(number), [1], timeUs, isLate)
  if (isFine) markFineTime(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0)
  return bytes
}

/** Its bytes do not begin with their memory. */
export function chunkOf(groups: Row[][], position = 0): Chunk {
  const bodies = groups.map(rows => Buffer.concat(rows.map(recordOf)))
  const chunk: Chunk = { bytes: new Uint8Array(), position, groups: [], damaged: [], next: position }
  let firstOrdinal = 0
  for (const [index, body] of bodies.entries()) {
    const rows = groups[index] as Row[]
    const backfillCount = rows.filter(({ isLate }) => isLate).length
    const counts = { bodyLength: body.length, recordCount: rows.length, backfillCount }
    chunk.groups.push({ ...counts, position: chunk.next, firstOrdinal, receiptUs: 1, lastStampUs: 1 })
    chunk.next += groupHeaderLength + body.length
    firstOrdinal += rows.length
  }
  const groupBytes = bodies.flatMap(body => [new Uint8Array(groupHeaderLength), body])
  const memory = Buffer.concat([new Uint8Array(7), ...groupBytes])
  chunk.bytes = new Uint8Array(memory).subarray(7)
  return chunk
}
