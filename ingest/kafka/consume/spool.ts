/**
 * The spool of a topic: fetched groups, written into segments like a journal's, so that the forwarder reads them in the same way.
 * It is a copy without syncs, and each one begins empty. Applied segments are removed. A full spool stops fetching, and the rest
 * waits in the topic.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../../store/limits/bug.ts'
import type { Disk } from '../../journal/disk.ts'
import { type GroupHeader, groupHeaderLength } from '../../journal/group.ts'
import { offsetOf, type RecordLayout } from '../../journal/record.ts'
import { type Chunk, SegmentReader } from '../../journal/segment-reader.ts'
import { SegmentWriter } from '../../journal/segment-writer.ts'
import { listSegments, segmentBytesMax } from '../../journal/segments.ts'
import type { TableDescription } from '../../table.ts'
import type { Sleeper } from '../../timing.ts'
import { messageOf } from '../client/errors.ts'
import type { Fetched } from '../client/fetcher.ts'
import { type DamagedGroups, isTopicGroup, spooledGroups, topicLayout } from '../produce/group.ts'
import { SpoolOffsets } from './spool-offsets.ts'
import { SpoolReader, type SpoolReaderOptions } from './spool-reader.ts'
import { SpoolFull, SpoolRetry } from './spool-retry.ts'

export interface SpoolOptions extends SpoolReaderOptions {
  table: TableDescription
  /** An empty disk. */
  disk: Disk
  /** Fetching stops at this size, which one group may exceed. */
  bytesMax: number
  /** Free space that it leaves to others. */
  reserveBytes: number
  /** Series that are not written to it, custom ones given as `erasedCustom` numbers. The set may grow. */
  erased: ReadonlySet<number>
  /** Age at which a segment ends, in milliseconds, so that it is removed eventually even with little data. */
  segmentMs: number
  monotonicMs: () => number
  damaged: DamagedGroups
  sleeper: Sleeper
}

/** Trimming removes whole segments. */
const segmentsMin = 8
const roomMs = 50
const skippedMs = 1000
/** Limit of small groups' bytes written before the thread does other work. */
const turnBytes = 256 * 1024

export class Spool {
  /** Reader of the topic. */
  readonly reader: SpoolReader
  readonly #options: SpoolOptions
  readonly #layout: RecordLayout
  readonly #writer: SegmentWriter
  readonly #retry: SpoolRetry
  #offsets: SpoolOffsets | undefined
  #start = 0
  #end = 0
  /** Receipt time of the last group. It never decreases, so that the lanes of a spool stay consistent. */
  #receiptUs = 0
  /** Arrival of the first group in the current segment or an earlier one. Undefined while it has none. */
  #filledAtMs: number | undefined
  #turnBytes = 0

  constructor(options: SpoolOptions) {
    const { topic, table, disk, bytesMax, reserveBytes, sleeper, log } = options
    const end = { position: 0, ordinal: 0, lastStampUs: 0 }
    const segmentBytes = Math.min(segmentBytesMax, Math.floor(bytesMax / segmentsMin))
    this.#options = options
    this.#layout = topicLayout(table)
    this.#writer = new SegmentWriter({ disk, end, reserveBytes, segmentBytes })
    this.#retry = new SpoolRetry(topic, sleeper, log)
    this.reader = new SpoolReader(options)
    if (options.from !== undefined) this.#pass(options.from)
  }

  /** Groups before this position may be read. */
  get end(): number {
    return this.#end
  }

  /** Reason why nothing is fetched at present. */
  get issue(): string | undefined {
    return this.#retry.issue
  }

  /** All records of the topic before this offset end at or before the position. Undefined while the start is unknown. */
  offsetAt(position: number): number | undefined {
    return this.#offsets?.at(position)
  }

  /** Id of a dead letter, by the position of its record. */
  letterId(position: number): number {
    return letterIdAt(this.#options.disk, position, this.#offsets?.endBefore(position) ?? 0, this.#end)
  }

  /** Everything before this position was removed. */
  trimmed(start: number): void {
    this.#start = start
    this.#offsets?.forget(start)
  }

  /** Fetches until it is stopped. */
  async run(): Promise<void> {
    const { sleeper } = this.#options
    while (!sleeper.stopped) {
      await this.#untilRoom(0)
      const fetched = await this.#retry.attempt(() => {
        this.#endOldSegment()
        return this.reader.fetch()
      })
      if (this.reader.next !== undefined) this.#pass(this.reader.next)
      if (fetched !== undefined) await this.#take(fetched)
      else if (this.reader.endsAt !== undefined) await sleeper.sleep(skippedMs)
    }
    this.#writer.close()
  }

  async #take({ records, nextOffset }: Fetched): Promise<void> {
    for (const record of records) {
      if (!(await this.#takeRecord(record))) return
      await this.#giveTurn(record.value.length)
    }
    this.#pass(nextOffset)
  }

  /** Returns false when it was stopped before. */
  async #takeRecord({ offset, appendedMs, value }: Fetched['records'][number]): Promise<boolean> {
    if (!isTopicGroup(value, this.#layout)) {
      return await this.#retry.untilDone(() => {
        this.#options.damaged.keep(offset, value)
        this.#pass(offset + 1)
      })
    }
    this.#receiptUs = Math.max(this.#receiptUs, appendedMs * 1000)
    await this.#untilRoom(value.length)
    // Synchronous: later erasures either precede the end or apply to the next group.
    return await this.#retry.untilDone(() => this.#write(offset, value))
  }

  /** Starts a new segment at once, since the newest one is never removed. */
  #endOldSegment(): void {
    const { segmentMs, monotonicMs } = this.#options
    if (this.#filledAtMs === undefined || monotonicMs() - this.#filledAtMs < segmentMs) return
    try {
      this.#end = this.#writer.begin(this.#receiptUs)
    } catch (error) {
      throw new SpoolFull(messageOf(error))
    }
    this.#filledAtMs = undefined
  }

  #write(offset: number, value: Uint8Array): void {
    this.#filledAtMs ??= this.#options.monotonicMs()
    for (const { bytes, content } of spooledGroups(value, offset, this.#receiptUs, this.#options.erased)) {
      const { outcome, end, error } = this.#writer.commit(bytes, content)
      this.#end = end
      // Groups of it that are present are written again: the last of several values stays the last.
      if (outcome !== 'stored') throw new SpoolFull(error instanceof Error ? error.message : outcome)
    }
    this.#pass(offset + 1)
  }

  /** Records before this offset are in the spool, or were skipped. */
  #pass(next: number): void {
    this.reader.goTo(next)
    if (this.#offsets === undefined) this.#offsets = new SpoolOffsets(next)
    else this.#offsets.add(this.#end, next)
  }

  /** Waits while it is full, unless nothing could be removed: then it accepts one more group. */
  async #untilRoom(length: number): Promise<void> {
    const { bytesMax, disk, sleeper } = this.#options
    const isFull = () =>
      this.#end - this.#start + length + groupHeaderLength > bytesMax && listSegments(disk).length > 1
    while (isFull() && !sleeper.stopped) await sleeper.sleep(roomMs)
  }

  /** Small groups must not delay the thread's other work. */
  async #giveTurn(bytes: number): Promise<void> {
    this.#turnBytes += bytes
    if (this.#turnBytes < turnBytes) return
    this.#turnBytes = 0
    await turn()
  }
}

/** A group of the spool begins at `from` and contains the record, or a later group does. The spool ends at `end`. */
function letterIdAt(disk: Disk, position: number, from: number, end: number): number {
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
