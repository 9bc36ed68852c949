/** The lane of rows that are sent as they come. */

import { bug } from '../bug.ts'
import { groupHeaderLength } from '../journal/group.ts'
import { isBackfill, offsetOf, type RecordLayout } from '../journal/record.ts'
import { type Chunk, chunkBytesMax } from '../journal/segment-reader.ts'
import { type Erased, nothingErased } from '../journal/tombstones.ts'
import type { Batch, Part } from './batch.ts'
import { revisionSlots } from './dirty-set.ts'
import { KeyTable } from './key-table.ts'

/** A batch of fewer rows goes over one connection: with sync, each commit costs more than the rows of both. */
const rowsWorthSplitting = 10_000

/** Some 10 MB: with sync, requests of half the size took a seventh longer for the same rows. */
const rowsOfPart = 64_000

/** A batch, and the chunk with whose end it ends. */
export interface Planned {
  chunk: Chunk
  batch: Batch
}

/** What a batch is made of, as long as the longest. */
interface Room {
  offsets: Int32Array
  series: Uint32Array
}

export class LivePlanner {
  readonly #kind: number
  readonly #connectionCount: number
  readonly #erased: Erased
  /** One batch is on its way while the next is planned. */
  #room: Room
  #otherRoom: Room
  #count = 0
  #seriesCount = 0
  readonly #keys: KeyTable
  /** Each series of the batch at its slot. */
  readonly #lookedAt = new Uint32Array(revisionSlots)
  /** Numbers of the series that stand in a batch that was planned. */
  readonly #known = new Set<number>()
  #hasClientTimes = false
  #oldestUs = Number.POSITIVE_INFINITY
  #hasNewSeries = false

  constructor(layout: RecordLayout, connectionCount: number, erased: Erased = nothingErased) {
    // Records of a chunk, at the very most.
    const rowsMax = Math.ceil(chunkBytesMax / layout.lengthMin)
    const createRoom = () => ({ offsets: new Int32Array(rowsMax), series: new Uint32Array(rowsMax) })
    this.#kind = layout.kind
    this.#connectionCount = connectionCount
    this.#erased = erased
    this.#room = createRoom()
    this.#otherRoom = createRoom()
    this.#keys = new KeyTable(rowsMax)
  }

  /** A batch was not taken: QuestDB may know none of its symbols. */
  forget(): void {
    this.#known.clear()
  }

  /**
   * The live rows of a chunk, cut into parts that the connections take in turns. No series and time stand in two rows of
   * a batch, and the next batch waits for all of this one, so any cut keeps the order; a cut by position gives QuestDB
   * stretches of time that meet at their ends only, which it merges for 3/4 of what interleaved ones cost. Where QuestDB
   * may not know a series yet, the batch ends early and goes over the first connection alone: new symbols over several at once
   * can stall it for most of a minute. A batch stays as it is until the next but one is planned.
   */
  plan(chunk: Chunk): Planned {
    const view = new DataView(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.byteLength)
    this.#clear()
    const planned = this.#collect(chunk, view)
    const isWhole = this.#count < rowsWorthSplitting || this.#hasNewSeries
    const batch: Batch = {
      bytes: chunk.bytes,
      view,
      parts: this.#cut(isWhole ? 1 : this.#connectionCount),
      series: this.#room.series.subarray(0, this.#seriesCount),
      hasClientTimes: this.#hasClientTimes,
      oldestUs: this.#oldestUs,
      positionOf: offset => chunk.position + offset,
    }
    return { chunk: planned, batch }
  }

  #clear(): void {
    for (let index = 0; index < this.#seriesCount; index++) {
      this.#lookedAt[(this.#room.series[index] as number) % revisionSlots] = 0
    }
    ;[this.#room, this.#otherRoom] = [this.#otherRoom, this.#room]
    this.#seriesCount = 0
    this.#keys.clear()
    this.#count = 0
    this.#hasClientTimes = false
    this.#oldestUs = Number.POSITIVE_INFINITY
    this.#hasNewSeries = false
  }

  #cut(connectionCount: number): Part[] {
    const count = this.#count
    const partCount = Math.ceil(count / rowsOfPart / connectionCount) * connectionCount
    return Array.from({ length: partCount }, (_, index) => {
      const offsets = this.#room.offsets.subarray((count * index) / partCount, (count * (index + 1)) / partCount)
      return { connection: index % connectionCount, offsets, count: offsets.length }
    })
  }

  /** Notes where the live records stand; one that a later one with the same key overtakes becomes -1. */
  #collect(chunk: Chunk, view: DataView): Chunk {
    // What comes in is behind all that was erased, so its rows are spared the look-up.
    const mayBeErased = chunk.position < this.#erased.before
    for (const [index, group] of chunk.groups.entries()) {
      if (this.#hasNewSeries && this.#count >= rowsOfPart) return endBefore(chunk, index)
      if (group.backfillCount === group.recordCount) continue
      let offset = group.position - chunk.position + groupHeaderLength
      for (let record = 0; record < group.recordCount; record++) {
        const isLive = group.backfillCount === 0 || !isBackfill(view, offset)
        if (isLive && !(mayBeErased && this.#isErased(chunk, view, offset))) this.#look(view, offset)
        offset += view.getUint16(offset + offsetOf.length, true)
      }
    }
    return chunk
  }

  #isErased(chunk: Chunk, view: DataView, offset: number): boolean {
    return this.#erased.covers(view.getUint32(offset + offsetOf.series, true), chunk.position + offset)
  }

  #look(view: DataView, offset: number): void {
    const kind = view.getUint8(offset + offsetOf.kind)
    if (kind !== this.#kind) throw bug(`a record of kind ${kind} is in the journal of kind ${this.#kind}`)
    const index = this.#count++
    this.#room.offsets[index] = offset
    const series = view.getUint32(offset + offsetOf.series, true)
    if (this.#lookedAt[series % revisionSlots] !== series) this.#meet(series)
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    if (timeUs < this.#oldestUs) this.#oldestUs = timeUs
    // Only clients' times can meet, and those are whole milliseconds.
    if (timeUs % 1000 !== 0) return
    this.#hasClientTimes = true
    const overtaken = this.#keys.put(view, this.#room.offsets, index)
    if (overtaken !== -1) this.#room.offsets[overtaken] = -1
  }

  #meet(series: number): void {
    this.#lookedAt[series % revisionSlots] = series
    this.#room.series[this.#seriesCount++] = series
    if (this.#known.has(series)) return
    this.#known.add(series)
    this.#hasNewSeries = true
  }
}

/** The chunk without the group at `index` and those behind it. */
export function endBefore(chunk: Chunk, index: number): Chunk {
  const groups = chunk.groups.slice(0, index)
  const next = chunk.groups[index]?.position ?? chunk.next
  return { ...chunk, groups, next, damaged: chunk.damaged.filter(({ from }) => from < next) }
}
