/** The lane of readings that are sent as they come. */

import type { Part, Round } from './delivery.ts'
import { groupHeaderLength } from './group.ts'
import { offsetOf } from './record.ts'
import { isBackfill, KeyTable } from './rows.ts'
import { type Chunk, chunkBytesDefault } from './segment-reader.ts'

/** A round of fewer rows goes over one connection: with sync, each commit costs more than the rows of both. */
const rowsWorthSplitting = 10_000

/** Records of a chunk, at the very most. */
const rowsMax = Math.ceil(chunkBytesDefault / offsetOf.symbol)

export class LivePlanner {
  readonly #parts: Part[]
  readonly #offsets = new Int32Array(rowsMax)
  readonly #keys = new KeyTable(rowsMax)
  readonly #seen: Set<number>
  #hasClientTimes = false

  /** `seen` are the devices whose rows were taken once, by number; planners that work in turns share it. */
  constructor(connectionCount: number, seen: Set<number>) {
    this.#seen = seen
    this.#parts = Array.from({ length: connectionCount }, (_, connection) => ({
      connection,
      offsets: new Int32Array(rowsMax),
      count: 0,
    }))
  }

  /**
   * The live rows of a chunk, dealt to the connections by device. A device that QuestDB may not know yet goes over the
   * first connection: new symbols over several at once can stall its apply for most of a minute.
   */
  plan(chunk: Chunk): Round {
    const view = new DataView(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.byteLength)
    const count = this.#collect(chunk, view)
    for (const part of this.#parts) part.count = 0
    const spread = count < rowsWorthSplitting ? 1 : this.#parts.length
    for (let index = 0; index < count; index++) {
      const offset = this.#offsets[index] as number
      if (offset < 0) continue
      const device = view.getUint32(offset + offsetOf.deviceNumber, true)
      const part = this.#parts[this.#seen.has(device) ? device % spread : 0]
      if (part !== undefined) part.offsets[part.count++] = offset
    }
    const { bytes, position } = chunk
    const parts = this.#parts.filter(part => part.count > 0)
    return { bytes, view, parts, hasClientTimes: this.#hasClientTimes, positionOf: offset => position + offset }
  }

  /** The round was taken: QuestDB knows its devices from now on. */
  remember({ view, parts }: Round): void {
    for (const { connection, offsets, count } of parts) {
      if (connection !== 0) continue
      for (let index = 0; index < count; index++) {
        this.#seen.add(view.getUint32((offsets[index] as number) + offsetOf.deviceNumber, true))
      }
    }
  }

  /** Offsets of the live records; one that a later one with the same key overtakes becomes -1. */
  #collect(chunk: Chunk, view: DataView): number {
    this.#keys.clear()
    this.#hasClientTimes = false
    let count = 0
    for (const group of chunk.groups) {
      if (group.backfillCount === group.recordCount) continue
      let offset = group.position - chunk.position + groupHeaderLength
      for (let record = 0; record < group.recordCount; record++) {
        if (!isBackfill(view, offset)) this.#offsets[count++] = offset
        offset += view.getUint16(offset + offsetOf.length, true)
      }
    }
    for (let index = 0; index < count; index++) this.#overtake(view, index)
    return count
  }

  /** Only clients' times can meet, and those are whole milliseconds. */
  #overtake(view: DataView, index: number): void {
    const offset = this.#offsets[index] as number
    if (view.getFloat64(offset + offsetOf.timeUs, true) % 1000 !== 0) return
    this.#hasClientTimes = true
    const overtaken = this.#keys.put(view, this.#offsets, index)
    if (overtaken !== -1) this.#offsets[overtaken] = -1
  }
}
