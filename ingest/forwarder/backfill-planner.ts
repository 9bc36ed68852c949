/**
 * Plans the batches of the backfill lane: rows that come late, from imports or a logger that was offline. Rows that are scattered
 * over many days cost QuestDB a thousandfold, because each request rewrites every day that it has rows of. So this lane
 * collects what there is, sorts it by time, stably, and sends it day after day.
 */

import { bug } from '../../limits/bug.ts'
import { groupHeaderLength } from '../journal/group.ts'
import { eraseFurther, isBackfill, offsetOf } from '../journal/record.ts'
import type { Chunk } from '../journal/segment-reader.ts'
import { type Erased, nothingErased } from '../journal/tombstones.ts'
import type { Batch, Part } from './batch.ts'
import type { FurtherSeries } from './further-series.ts'
import type { Absent } from './row-format.ts'
import { timeOrder } from './time-order.ts'

/** How much is sorted at once: some 650,000 records of 75 bytes. */
const sortedBytesMax = 48 * 1024 * 1024
const bufferBytesMin = 1024 * 1024

export class BackfillPlanner {
  readonly #kind: number
  readonly #connection: number
  readonly #erased: Erased
  readonly #further: FurtherSeries
  #bytes = new Uint8Array(bufferBytesMin)
  #view = new DataView(this.#bytes.buffer)
  #used = 0
  readonly #series = new Set<number>()
  #absent = new Map<number, Absent>()
  /** Offsets in `#bytes` and positions in the journal, both ascending. */
  #offsets: number[] = []
  #positions: number[] = []

  constructor(kind: number, connection: number, further: FurtherSeries, erased: Erased = nothingErased) {
    this.#kind = kind
    this.#connection = connection
    this.#erased = erased
    this.#further = further
  }

  /** Takes the late records of a chunk; false when the chunk does not fit any more. */
  collect(chunk: Chunk): boolean {
    if (this.#used > 0 && this.#used + chunk.bytes.length > sortedBytesMax) return false
    const view = new DataView(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.byteLength)
    for (const group of chunk.groups) {
      if (group.backfillCount === 0) continue
      let offset = group.position - chunk.position + groupHeaderLength
      for (let record = 0; record < group.recordCount; record++) {
        if (isBackfill(view, offset)) this.#addRow(chunk, view, offset)
        offset += view.getUint16(offset + offsetOf.length, true)
      }
    }
    return true
  }

  /** What was collected, by time; of several records with one series and time only the last. */
  plan(): Batch {
    const order = this.#sorted()
    const offsets = new Int32Array(order.length)
    let count = 0
    for (let index = 0; index < order.length; index++) {
      const row = order[index] as number
      const next = order[index + 1]
      if (next === undefined || !this.#sameKey(row, next)) offsets[count++] = this.#offsets[row] as number
    }
    const part: Part = { connection: this.#connection, offsets, count }
    return {
      bytes: this.#bytes,
      view: this.#view,
      parts: count > 0 ? [part] : [],
      series: this.#series,
      hasClientTimes: true,
      oldestUs:
        count > 0 ? this.#view.getFloat64((offsets[0] as number) + offsetOf.timeUs, true) : Number.POSITIVE_INFINITY,
      absent: this.#absent,
      positionOf: offset => this.#positionOf(offset),
    }
  }

  #positionOf(offset: number): number {
    const position = this.#positions[this.#offsets.indexOf(offset)]
    if (position === undefined) throw bug(`no late row stands at ${offset}`)
    return position
  }

  /** Drops the rows, and the memory of a large import with them. */
  clear(): void {
    this.#used = 0
    this.#series.clear()
    this.#absent = new Map()
    this.#offsets = []
    this.#positions = []
    if (this.#bytes.length > bufferBytesMin) this.#resize(bufferBytesMin)
  }

  #addRow(chunk: Chunk, view: DataView, offset: number): void {
    const kind = view.getUint8(offset + offsetOf.kind)
    if (kind !== this.#kind) throw bug(`a record of kind ${kind} is in the journal of kind ${this.#kind}`)
    const series = view.getUint32(offset + offsetOf.series, true)
    if (this.#erased.covers(series, chunk.position + offset)) return
    const length = view.getUint16(offset + offsetOf.length, true)
    const before = this.#offsets.at(-1) ?? -1
    if (this.#used <= before) throw bug(`a late row goes to ${this.#used}, behind one at ${before}`)
    if (this.#used + length > this.#bytes.length) this.#resize(this.#bytes.length * 2)
    this.#bytes.set(chunk.bytes.subarray(offset, offset + length), this.#used)
    if (chunk.position < this.#erased.before) {
      eraseFurther(this.#view, this.#used, number => this.#erased.covers(number, chunk.position + offset))
    }
    this.#series.add(series)
    const absent = this.#further.absentOf(this.#view, this.#used)
    if (absent.length > 0) this.#absent.set(this.#used, absent)
    this.#offsets.push(this.#used)
    this.#positions.push(chunk.position + offset)
    this.#used += length
  }

  #resize(length: number): void {
    const bytes = new Uint8Array(length)
    bytes.set(this.#bytes.subarray(0, Math.min(this.#used, length)))
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }

  #sorted(): Uint32Array {
    const offsets = this.#offsets
    const times = Float64Array.from(offsets, offset => this.#view.getFloat64(offset + offsetOf.timeUs, true))
    const numbers = Float64Array.from(offsets, offset => this.#view.getUint32(offset + offsetOf.series, true))
    return timeOrder(times, numbers)
  }

  #sameKey(row: number, other: number): boolean {
    const a = this.#offsets[row] as number
    const b = this.#offsets[other] as number
    return (
      this.#view.getFloat64(a + offsetOf.timeUs, true) === this.#view.getFloat64(b + offsetOf.timeUs, true) &&
      this.#view.getUint32(a + offsetOf.series, true) === this.#view.getUint32(b + offsetOf.series, true)
    )
  }
}
