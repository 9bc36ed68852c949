/** The records of fetched batches from an offset on. */

import type { RecordsBatch } from '@platformatic/kafka'
import { offsetOf } from './offset.ts'

interface FetchedRecord {
  offset: number
  /** When the leader appended it, epoch milliseconds, if the topic has `message.timestamp.type=LogAppendTime`; else the sender's. */
  appendedMs: number
  value: Buffer
}

export interface FetchedRecords {
  records: FetchedRecord[]
  /** Where to go on: behind all that was fetched, also behind what is no record of ours. */
  nextOffset: number
}

const appendTimeBit = 1 << 3
/** Marks the end of a transaction. */
const controlBit = 1 << 5

/** A batch can begin before the offset, as a broker hands out whole ones, and hold several records. */
export function recordsFrom(batches: readonly RecordsBatch[], offset: number): FetchedRecords {
  const records: FetchedRecord[] = []
  let nextOffset = offset
  for (const batch of batches) {
    const first = offsetOf(batch.firstOffset)
    nextOffset = Math.max(nextOffset, first + batch.lastOffsetDelta + 1)
    if ((batch.attributes & controlBit) !== 0) continue
    const hasAppendTime = (batch.attributes & appendTimeBit) !== 0
    for (const record of batch.records) {
      if (first + record.offsetDelta < offset) continue
      const time = hasAppendTime ? batch.maxTimestamp : batch.firstTimestamp + record.timestampDelta
      records.push({
        offset: first + record.offsetDelta,
        appendedMs: Number(time),
        value: record.value ?? Buffer.alloc(0),
      })
    }
  }
  return { records, nextOffset }
}
