/**
 * Plans the batches of the backfill lane: late rows, from imports or a logger that was offline. Rows scattered over many days
 * cost QuestDB a thousandfold, because each request rewrites every day that it has rows of. So this lane collects all late rows,
 * sorts them stably by time, and sends them day by day.
 */

import { bug } from '../../store/limits/bug.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { groupHeaderLength } from '../journal/group.ts'
import { isBackfill, offsetOf } from '../journal/record.ts'
import type { Chunk } from '../journal/segment-reader.ts'
import { type Erased, isRecordErased, nothingErased } from '../journal/tombstones.ts'
import { type Batch, KeyTable, type Part } from './batch.ts'
import type { CustomSeries } from './custom-series.ts'
import type { Absent } from './row-format.ts'

/** Size of a sort: some 650,000 records of 75 bytes. */
const sortedBytesMax = 48 * 1024 * 1024
const bufferBytesMin = 1024 * 1024
const rowsMin = 4096

/** Late records by place, in the order of the journal. */
interface Rows {
  /** Ascending offsets in the planner's bytes. */
  readonly offsets: Int32Array<ArrayBuffer>
  readonly timesUs: Float64Array<ArrayBuffer>
}

/** The copied body of a group. */
interface CopiedBody {
  offset: number
  /** Position in the journal. */
  position: number
}

export class BackfillPlanner {
  readonly #kind: number
  readonly #connection: number
  readonly #erased: Erased
  readonly #custom: CustomSeries
  /** Whole bodies of groups, including groups that also have live records. */
  #bytes = new Uint8Array(bufferBytesMin)
  #view = new DataView(this.#bytes.buffer)
  #used = 0
  readonly #series = new Set<number>()
  #absent = new Map<number, Absent>()
  #rows = createRows(rowsMin)
  /** Offsets of the last plan, in its order. */
  #sorted = new Int32Array(0)
  readonly #keys = new KeyTable()
  #count = 0
  #bodies: CopiedBody[] = []

  constructor(kind: number, connection: number, custom: CustomSeries, erased: Erased = nothingErased) {
    this.#kind = kind
    this.#connection = connection
    this.#erased = erased
    this.#custom = custom
  }

  /** Collects the late records of a chunk. Returns false when the chunk does not fit. */
  collect(chunk: Chunk): boolean {
    if (this.#used > 0 && this.#used + chunk.bytes.length > sortedBytesMax) return false
    for (const group of chunk.groups) {
      if (group.backfillCount === 0) continue
      const position = group.position + groupHeaderLength
      const start = position - chunk.position
      const offset = this.#copy(chunk.bytes.subarray(start, start + group.bodyLength))
      this.#bodies.push({ offset, position })
      this.#makeRoom(group.backfillCount)
      // New rows are after all erasures and need no look-up.
      this.#addRows(offset, group.recordCount, position, chunk.position < this.#erased.before)
    }
    return true
  }

  /** Returns the collected records by time. Of several records with one series and time only the last is kept. */
  plan(): Batch {
    const { offsets, timesUs } = this.#rows
    const count = this.#count
    const order = timeOrder(timesUs.subarray(0, count))
    const sorted = new Int32Array(count)
    this.#sorted = sorted
    for (let index = 0; index < count; index++) sorted[index] = offsets[order[index] as number] as number
    for (let from = 0; from < count; ) {
      const timeUs = timesUs[order[from] as number]
      let to = from + 1
      while (to < count && timesUs[order[to] as number] === timeUs) to++
      if (to - from > 1) this.#dropSuperseded(sorted, from, to)
      from = to
    }
    const oldestUs = count > 0 ? (timesUs[order[0] as number] as number) : Number.POSITIVE_INFINITY
    detachBuffers([order])
    const part: Part = { connection: this.#connection, offsets: sorted, count }
    return {
      bytes: this.#bytes,
      view: this.#view,
      parts: count > 0 ? [part] : [],
      series: this.#series,
      hasClientTimes: true,
      oldestUs,
      absent: this.#absent,
      positionOf: offset => this.#positionOf(offset),
    }
  }

  /**
   * Marks superseded rows with -1. The rows from one index to another have one time, and a later row of the same series
   * supersedes an earlier one.
   */
  #dropSuperseded(sorted: Int32Array, from: number, to: number): void {
    this.#keys.clear(to - from)
    for (let index = from; index < to; index++) {
      const superseded = this.#keys.put(this.#view, sorted, index)
      if (superseded !== -1) sorted[superseded] = -1
    }
  }

  #positionOf(offset: number): number {
    const body = this.#bodies.findLast(copied => copied.offset <= offset)
    if (body === undefined || offset >= this.#used) throw bug(`no late row stands at ${offset}`)
    return body.position + (offset - body.offset)
  }

  /** Drops the rows. */
  clear(): void {
    this.#used = 0
    this.#count = 0
    detachBuffers([this.#sorted])
    this.#sorted = new Int32Array(0)
    this.#series.clear()
    if (this.#absent.size > 0) this.#absent = new Map()
    this.#bodies = []
  }

  /** Releases the memory of a large import. Call it when nothing is waiting. */
  shrink(): void {
    if (this.#bytes.length > bufferBytesMin) this.#resize(bufferBytesMin)
    if (this.#rows.offsets.length > rowsMin) this.#replaceRows(createRows(rowsMin))
  }

  /** Its offset in the bytes of this planner. */
  #copy(body: Uint8Array): number {
    const offset = this.#used
    const end = offset + body.length
    if (end > this.#bytes.length) this.#resize(Math.max(end, 2 * this.#bytes.length))
    this.#bytes.set(body, offset)
    this.#used = end
    return offset
  }

  #makeRoom(count: number): void {
    const needed = this.#count + count
    if (needed <= this.#rows.offsets.length) return
    const { offsets, timesUs } = createRows(Math.max(needed, 2 * this.#rows.offsets.length))
    offsets.set(this.#rows.offsets)
    timesUs.set(this.#rows.timesUs)
    this.#replaceRows({ offsets, timesUs })
  }

  #replaceRows(rows: Rows): void {
    detachBuffers([this.#rows.offsets, this.#rows.timesUs])
    this.#rows = rows
  }

  #addRows(start: number, recordCount: number, position: number, mayBeErased: boolean): void {
    const view = this.#view
    let offset = start
    for (let record = 0; record < recordCount; record++) {
      const isErased = mayBeErased && isRecordErased(this.#erased, view, offset, position + (offset - start))
      if (!isErased && isBackfill(view, offset)) this.#addRow(view, offset)
      offset += view.getUint16(offset + offsetOf.length, true)
    }
  }

  #addRow(view: DataView, offset: number): void {
    const kind = view.getUint8(offset + offsetOf.kind)
    if (kind !== this.#kind) throw bug(`a record of kind ${kind} is in the journal of kind ${this.#kind}`)
    const series = view.getUint32(offset + offsetOf.series, true)
    this.#series.add(series)
    const absent = this.#custom.absentOf(view, offset)
    if (absent.length > 0) this.#absent.set(offset, absent)
    const row = this.#count++
    // Typed arrays silently drop elements beyond their end.
    if (row >= this.#rows.offsets.length) throw bug(`${row + 1} late rows are more than their groups say`)
    this.#rows.offsets[row] = offset
    this.#rows.timesUs[row] = view.getFloat64(offset + offsetOf.timeUs, true)
  }

  #resize(length: number): void {
    const bytes = new Uint8Array(length)
    bytes.set(this.#bytes.subarray(0, Math.min(this.#used, length)))
    detachBuffers([this.#bytes])
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }
}

function createRows(count: number): Rows {
  return { offsets: new Int32Array(count), timesUs: new Float64Array(count) }
}

const wordBits = 32

/**
 * Indexes of the rows by time (whole microseconds). Rows of one time keep their order. V8 sorts an array of 64-bit integers in a
 * tenth of the time of a sort with a comparison function. So this is a radix sort with the longest digits that fit into such an
 * integer beside a row's rank.
 */
export function timeOrder(timesUs: Float64Array): Uint32Array<ArrayBuffer> {
  const rankBits = wordBits - Math.clz32(Math.max(timesUs.length, 2) - 1)
  // 44 bits for a million rows: all times of 200 days differ in their lower digit.
  const radix = 2 ** (2 * wordBits - rankBits)
  const { earliestUs, latestUs } = rangeOf(timesUs)
  const digits = new Float64Array(timesUs.length)
  for (let row = 0; row < digits.length; row++) digits[row] = ((timesUs[row] as number) - earliestUs) % radix
  const order = identity(timesUs.length)
  sortBy(digits, order, rankBits)
  if (latestUs - earliestUs >= radix) {
    for (let row = 0; row < digits.length; row++) {
      digits[row] = Math.floor(((timesUs[row] as number) - earliestUs) / radix)
    }
    sortBy(digits, order, rankBits)
  }
  detachBuffers([digits])
  return order
}

function rangeOf(timesUs: Float64Array): { earliestUs: number; latestUs: number } {
  let earliestUs = Number.POSITIVE_INFINITY
  let latestUs = Number.NEGATIVE_INFINITY
  for (let row = 0; row < timesUs.length; row++) {
    const timeUs = timesUs[row] as number
    if (timeUs < earliestUs) earliestUs = timeUs
    if (timeUs > latestUs) latestUs = timeUs
  }
  return { earliestUs, latestUs }
}

function identity(count: number): Uint32Array<ArrayBuffer> {
  const order = new Uint32Array(count)
  for (let row = 0; row < count; row++) order[row] = row
  return order
}

/** Stable, since the rank in the previous order is the lowest part of each key. */
function sortBy(digits: Float64Array, order: Uint32Array, rankBits: number): void {
  const count = order.length
  const keys = new BigUint64Array(count)
  // Each key as two words, the lower one first, as on x64 and arm64.
  const words = new Uint32Array(keys.buffer)
  const ranks = 2 ** rankBits
  const lowerDigits = 2 ** (wordBits - rankBits)
  for (let rank = 0; rank < count; rank++) {
    const digit = digits[order[rank] as number] as number
    const upper = Math.floor(digit / lowerDigits)
    words[2 * rank] = (digit - upper * lowerDigits) * ranks + rank
    words[2 * rank + 1] = upper
  }
  keys.sort()
  const before = order.slice()
  for (let at = 0; at < count; at++) order[at] = before[(words[2 * at] as number) & (ranks - 1)] as number
  detachBuffers([before, keys])
}
