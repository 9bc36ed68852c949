/**
 * The spool of a topic: the groups that are fetched from it, written into segments as a journal's are, so that the forwarder
 * reads them as it reads a journal. It is a copy, nothing in it is synced, and each one begins empty. What is applied goes from
 * it; when it is full it fetches no more, and the rest waits in the topic.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import type { Sleeper } from '../forwarder/sleeper.ts'
import type { Disk } from '../journal/disk.ts'
import { type GroupHeader, groupHeaderLength } from '../journal/group.ts'
import { offsetOf, type RecordLayout } from '../journal/record.ts'
import { type Chunk, SegmentReader } from '../journal/segment-reader.ts'
import { SegmentWriter } from '../journal/segment-writer.ts'
import { listSegments, segmentBytesMax } from '../journal/segments.ts'
import type { TableDescription } from '../table.ts'
import type { DamagedGroups } from './damaged-groups.ts'
import type { Fetched } from './fetcher.ts'
import { messageOf } from './kafka-errors.ts'
import { SpoolOffsets } from './spool-offsets.ts'
import { SpoolReader, type SpoolReaderOptions } from './spool-reader.ts'
import { SpoolFull, SpoolRetry } from './spool-retry.ts'
import { isTopicGroup, spooledGroups, topicLayout } from './topic-group.ts'

export interface SpoolOptions extends SpoolReaderOptions {
  table: TableDescription
  /** An empty one. */
  disk: Disk
  /** It fetches no more when it holds this many bytes; one group goes beyond. */
  bytesMax: number
  /** Free space that it leaves to others. */
  reserveBytes: number
  /** Series of which nothing comes into it, custom ones as `erasedCustom` tells them; may grow. */
  erased: ReadonlySet<number>
  /** Age at which a segment ends, milliseconds, so that it goes some time though little comes. */
  segmentMs: number
  monotonicMs: () => number
  damaged: DamagedGroups
  sleeper: Sleeper
}

/** Whole segments are what trimming removes. */
const segmentsMin = 8
/** Between two positions of which the offset is known: a commit is behind by less. */
const offsetsApartMin = 64 * 1024
const offsetsMax = 8192
const roomMs = 50
const skippedMs = 1000
/** Of small groups, as many bytes as are written before other work of the thread has its turn. */
const turnBytes = 256 * 1024

export class Spool {
  /** Of the topic. */
  readonly reader: SpoolReader
  readonly #options: SpoolOptions
  readonly #layout: RecordLayout
  readonly #writer: SegmentWriter
  readonly #retry: SpoolRetry
  #offsets: SpoolOffsets | undefined
  #start = 0
  #end = 0
  /** Of the group that came last. Never falls, so that the lanes of a spool fit together. */
  #receiptUs = 0
  /** When the first group came into the segment of now, or into one before; undefined while it has none. */
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

  /** Why nothing is fetched at present. */
  get issue(): string | undefined {
    return this.#retry.issue
  }

  /** All that stands before this offset of the topic ends at the position or before it; undefined until it is known where to begin. */
  offsetAt(position: number): number | undefined {
    return this.#offsets?.at(position)
  }

  /** The id of a dead letter, by the position of its record. */
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

  /** False when it was stopped before. */
  async #takeRecord({ offset, appendedMs, value }: Fetched['records'][number]): Promise<boolean> {
    if (!isTopicGroup(value, this.#layout)) {
      return await this.#retry.untilDone(() => {
        this.#options.damaged.keep(offset, value)
        this.#pass(offset + 1)
      })
    }
    this.#receiptUs = Math.max(this.#receiptUs, appendedMs * 1000)
    await this.#untilRoom(value.length)
    // At once: what is erased from now on stands before the end, or is met by the next.
    return await this.#retry.untilDone(() => this.#write(offset, value))
  }

  /** A new one begins at once: of those that are there the newest one never goes. */
  #endOldSegment(): void {
    const { segmentMs, monotonicMs } = this.#options
    if (this.#filledAtMs === undefined || monotonicMs() - this.#filledAtMs < segmentMs) return
    try {
      this.#end = this.#writer.begin(this.#receiptUs)
    } catch (error) {
      throw new SpoolFull(messageOf(error))
    }
    this.#offsets?.keepLast()
    this.#filledAtMs = undefined
  }

  #write(offset: number, value: Uint8Array): void {
    this.#filledAtMs ??= this.#options.monotonicMs()
    for (const { bytes, content } of spooledGroups(value, offset, this.#receiptUs, this.#options.erased)) {
      const { outcome, end, error } = this.#writer.commit(bytes, content)
      this.#end = end
      // Groups of it that are there are written again: the last of several values stays the last.
      if (outcome !== 'stored') throw new SpoolFull(error instanceof Error ? error.message : outcome)
    }
    this.#pass(offset + 1)
  }

  /** What stands before this offset is in the spool, or was passed over. */
  #pass(next: number): void {
    this.reader.goTo(next)
    if (this.#offsets === undefined) {
      this.#offsets = new SpoolOffsets(next, Math.max(offsetsApartMin, this.#options.bytesMax / offsetsMax))
    } else this.#offsets.add(this.#end, next)
  }

  /** While it is full, unless nothing could be removed from it: then it takes one group more. */
  async #untilRoom(length: number): Promise<void> {
    const { bytesMax, disk, sleeper } = this.#options
    const isFull = () =>
      this.#end - this.#start + length + groupHeaderLength > bytesMax && listSegments(disk).length > 1
    while (isFull() && !sleeper.stopped) await sleeper.sleep(roomMs)
  }

  /** So that small groups do not hold up what else the thread does. */
  async #giveTurn(bytes: number): Promise<void> {
    this.#turnBytes += bytes
    if (this.#turnBytes < turnBytes) return
    this.#turnBytes = 0
    await turn()
  }
}

/** A group of the spool begins at `from`, and the record stands in it or in one of the next; the spool ends at `end`. */
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
