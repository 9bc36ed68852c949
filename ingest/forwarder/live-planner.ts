/** Plans the batches of the live lane: rows that are sent as they arrive. */

import { bug } from '../../store/limits/bug.ts'
import { groupHeaderLength } from '../journal/group.ts'
import { hasFineTime, isBackfill, offsetOf, type RecordLayout } from '../journal/record.ts'
import { type Chunk, chunkBytesMax } from '../journal/segment-reader.ts'
import { type Erased, isRecordErased, nothingErased } from '../journal/tombstones.ts'
import { revisionSlots } from './apply-tracker.ts'
import { type Batch, KeyTable, type Part } from './batch.ts'
import type { CustomSeries } from './custom-series.ts'
import type { Absent } from './row-format.ts'

/** A smaller batch uses one connection: with sync, each commit costs more than the rows of both. */
const rowsWorthSplitting = 10_000

/** Some 10 MB: with sync, requests of half the size took a seventh longer for the same rows. */
const rowsOfPart = 64_000

/** A batch, and the chunk that ends with it. */
export interface PlannedBatch {
  chunk: Chunk
  batch: Batch
}

/** Buffers for a batch, as long as the longest. */
interface BatchBuffers {
  offsets: Int32Array
  series: Uint32Array
}

export class LivePlanner {
  readonly #kind: number
  readonly #connectionCount: number
  readonly #erased: Erased
  readonly #custom: CustomSeries
  /** One batch is in flight while the next is planned. */
  #buffers: BatchBuffers
  #previousBuffers: BatchBuffers
  #count = 0
  #seriesCount = 0
  readonly #keys = new KeyTable()
  #absent = new Map<number, Absent>()
  /** Each slot has the series added last. */
  readonly #seriesBySlot = new Uint32Array(revisionSlots)
  /** Series of earlier batches. */
  readonly #knownSeries = new Set<number>()
  #hasClientTimes = false
  /** True when the batch has a client's time with microseconds: then rows with our own stamps have keys too. */
  #hasFineTimes = false
  #oldestUs = Number.POSITIVE_INFINITY
  #hasNewSeries = false

  constructor(layout: RecordLayout, connectionCount: number, custom: CustomSeries, erased: Erased = nothingErased) {
    // Upper bound of the records in a chunk.
    const rowsMax = Math.ceil(chunkBytesMax / layout.lengthMin)
    const createBuffers = () => ({ offsets: new Int32Array(rowsMax), series: new Uint32Array(rowsMax) })
    this.#kind = layout.kind
    this.#connectionCount = connectionCount
    this.#erased = erased
    this.#custom = custom
    this.#buffers = createBuffers()
    this.#previousBuffers = createBuffers()
  }

  /** A batch was not delivered: QuestDB may lack its symbols. */
  forgetSymbols(): void {
    this.#knownSeries.clear()
  }

  /**
   * Plans the live rows of a chunk, in parts that the connections take in turn. A batch has each series and time only once, and
   * the next batch waits for all of this one, so any cut keeps the order. A cut by position gives QuestDB ranges of time that
   * touch only at their ends, which it merges for 3/4 of the cost of interleaved ones. Where QuestDB may not know a series yet,
   * the batch ends early and uses only the first connection: new symbols over several at once can stall it for most of a minute.
   * A batch stays valid until the batch after the next is planned.
   */
  plan(chunk: Chunk): PlannedBatch {
    const view = new DataView(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.byteLength)
    this.#clear(liveRowsOf(chunk))
    const planned = this.#collect(chunk, view)
    // Typed arrays silently drop elements beyond their end.
    const { offsets, series } = this.#buffers
    if (this.#count > offsets.length || this.#seriesCount > series.length) {
      throw bug(`a batch has ${this.#count} rows of ${this.#seriesCount} series, and room for ${offsets.length}`)
    }
    const isWhole = this.#count < rowsWorthSplitting || this.#hasNewSeries
    const batch: Batch = {
      bytes: chunk.bytes,
      view,
      parts: assertParts(this.#cut(isWhole ? 1 : this.#connectionCount), this.#count),
      series: this.#buffers.series.subarray(0, this.#seriesCount),
      hasClientTimes: this.#hasClientTimes,
      oldestUs: this.#oldestUs,
      absent: this.#absent,
      positionOf: offset => chunk.position + offset,
    }
    return { chunk: planned, batch }
  }

  #clear(rowsMax: number): void {
    for (let index = 0; index < this.#seriesCount; index++) {
      this.#seriesBySlot[(this.#buffers.series[index] as number) % revisionSlots] = 0
    }
    ;[this.#buffers, this.#previousBuffers] = [this.#previousBuffers, this.#buffers]
    this.#seriesCount = 0
    if (this.#absent.size > 0) this.#absent = new Map()
    this.#keys.clear(rowsMax)
    this.#count = 0
    this.#hasClientTimes = false
    this.#hasFineTimes = false
    this.#oldestUs = Number.POSITIVE_INFINITY
    this.#hasNewSeries = false
  }

  #cut(connectionCount: number): Part[] {
    const count = this.#count
    const partCount = Math.ceil(count / rowsOfPart / connectionCount) * connectionCount
    return Array.from({ length: partCount }, (_, index) => {
      const offsets = this.#buffers.offsets.subarray((count * index) / partCount, (count * (index + 1)) / partCount)
      return { connection: index % connectionCount, offsets, count: offsets.length }
    })
  }

  /** Collects the offsets of the live records. A record superseded by a later one with the same key becomes -1. */
  #collect(chunk: Chunk, view: DataView): Chunk {
    // New rows are after all erasures and need no look-up.
    const mayBeErased = chunk.position < this.#erased.before
    for (const [index, group] of chunk.groups.entries()) {
      if (this.#hasNewSeries && this.#count >= rowsOfPart) return endBefore(chunk, index)
      if (group.backfillCount === group.recordCount) continue
      let offset = group.position - chunk.position + groupHeaderLength
      for (let record = 0; record < group.recordCount; record++) {
        const isLive = group.backfillCount === 0 || !isBackfill(view, offset)
        const isErased = mayBeErased && isRecordErased(this.#erased, view, offset, chunk.position + offset)
        if (isLive && !isErased) this.#addRow(view, offset)
        offset += view.getUint16(offset + offsetOf.length, true)
      }
    }
    return chunk
  }

  #addRow(view: DataView, offset: number): void {
    const kind = view.getUint8(offset + offsetOf.kind)
    if (kind !== this.#kind) throw bug(`a record of kind ${kind} is in the journal of kind ${this.#kind}`)
    const index = this.#count++
    this.#buffers.offsets[index] = offset
    const series = view.getUint32(offset + offsetOf.series, true)
    if (this.#seriesBySlot[series % revisionSlots] !== series) this.#addSeries(series)
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    if (timeUs < this.#oldestUs) this.#oldestUs = timeUs
    const absent = this.#custom.absentOf(view, offset)
    if (absent.length > 0) this.#absent.set(offset, absent)
    // Our own stamps are unique. A reserved one may appear in several rows, all equal.
    const isFine = timeUs % 1000 !== 0
    if (isFine && !this.#hasFineTimes && !hasFineTime(view, offset)) return
    if (isFine && !this.#hasFineTimes) this.#addStampKeys(view, index)
    this.#hasClientTimes = true
    this.#addKey(view, index)
  }

  /** A client's time with microseconds is one of our stamps sent back, possibly to a row of this very batch. */
  #addStampKeys(view: DataView, rowCount: number): void {
    this.#hasFineTimes = true
    for (let index = 0; index < rowCount; index++) {
      const offset = this.#buffers.offsets[index] as number
      if (offset !== -1 && view.getFloat64(offset + offsetOf.timeUs, true) % 1000 !== 0) this.#addKey(view, index)
    }
  }

  #addKey(view: DataView, index: number): void {
    const superseded = this.#keys.put(view, this.#buffers.offsets, index)
    if (superseded !== -1) this.#buffers.offsets[superseded] = -1
  }

  #addSeries(series: number): void {
    this.#seriesBySlot[series % revisionSlots] = series
    this.#buffers.series[this.#seriesCount++] = series
    if (this.#knownSeries.has(series)) return
    this.#knownSeries.add(series)
    this.#hasNewSeries = true
  }
}

/** Upper bound for a chunk. */
function liveRowsOf({ groups }: Chunk): number {
  return groups.reduce((sum, { recordCount, backfillCount }) => sum + recordCount - backfillCount, 0)
}

/** A row outside all parts would never be sent. */
function assertParts(parts: Part[], rows: number): Part[] {
  const rowsOfParts = parts.reduce((sum, { count }) => sum + count, 0)
  if (rowsOfParts !== rows) throw bug(`the parts of a batch of ${rows} rows have ${rowsOfParts}`)
  return parts
}

/** The chunk without the group at `index` and later ones. */
export function endBefore(chunk: Chunk, index: number): Chunk {
  // Such a batch would be read again forever.
  if (index === 0) throw bug(`a batch at ${chunk.position} ends before its first group`)
  const groups = chunk.groups.slice(0, index)
  const next = chunk.groups[index]?.position ?? chunk.next
  return { ...chunk, groups, next, damaged: chunk.damaged.filter(({ from }) => from < next) }
}
