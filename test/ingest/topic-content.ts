/** A topic in memory for tests of its readers, and the groups that a journal appends to it. */

import { setImmediate as turn } from 'node:timers/promises'
import { sealGroup } from '../../ingest/journal/group.ts'
import { OffsetOutOfRange } from '../../ingest/kafka/client/errors.ts'
import type { Fetched } from '../../ingest/kafka/client/fetcher.ts'
import type { SpoolPartition } from '../../ingest/kafka/consume/spool-reader.ts'
import { unsealed } from '../support/journal-parts.ts'

/** A group as a journal appends it. */
export function topicGroup(body: Uint8Array, recordCount: number): Buffer {
  const bytes = unsealed(body)
  const times = { receiptUs: 1, lastStampUs: 1 }
  const header = { bodyLength: body.length, recordCount, backfillCount: 0, position: 0, firstOrdinal: 0, ...times }
  sealGroup(bytes, header)
  return Buffer.from(bytes)
}

export class TopicContent implements SpoolPartition {
  readonly records: { appendedMs: number; value: Buffer }[] = []
  start = 0
  /** Fails each fetch, when there is one. */
  failure: Error | undefined

  get end(): number {
    return this.records.length
  }

  append(value: Buffer, appendedMs: number): void {
    this.records.push({ value, appendedMs })
  }

  async fetch(offset: number, bytesMax: number): Promise<Fetched> {
    await turn()
    const { start, end } = this
    if (this.failure !== undefined) throw this.failure
    if (offset < start || offset > end) throw new OffsetOutOfRange('topic', offset, { start, end })
    const records = []
    let bytes = 0
    for (let at = offset; at < end && (records.length === 0 || bytes < bytesMax); at++) {
      const record = this.records[at]
      if (record === undefined) break
      // A fetched record is changed by who fetched it.
      records.push({ ...record, offset: at, value: Buffer.from(record.value) })
      bytes += record.value.length
    }
    return { records, nextOffset: offset + records.length, highWatermark: end, logStart: start }
  }

  async offsets(): Promise<{ start: number; end: number }> {
    return { start: this.start, end: this.end }
  }
}
