/** Readings on their way to the engine: packed some at a time, kept while it is not ready for them, and bounded. */

import { bytesOf, PackedReader, type PackedReadings, ReadingsBuffer, type TakenReadings } from './packed-readings.ts'

/** More than 100 ms of them go on their way at once. */
export const packedMax = 8000

export class ReadingIntake {
  readonly #bytesMax: number
  readonly #buffer = new ReadingsBuffer()
  readonly #held: PackedReadings[] = []
  #heldBytes = 0
  /** Of readings that the thread has not evaluated yet. */
  #unansweredBytes = 0
  #dropped = 0
  #hasDropped = false

  /** A reading may have many custom values, so a count would bound nothing. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get dropped(): number {
    return this.#dropped
  }

  get packed(): number {
    return this.#buffer.count
  }

  /** True where readings were dropped since the last call. */
  takeDropped(): boolean {
    const hasDropped = this.#hasDropped
    this.#hasDropped = false
    return hasDropped
  }

  add(readings: TakenReadings, receiptMs: number, isWanted: (device: number) => boolean): void {
    while (readings.next()) {
      if (!isWanted(readings.series)) continue
      const waiting = this.#unansweredBytes + this.#heldBytes + this.#buffer.bytes
      if (waiting + bytesOf(readings.customCount) > this.#bytesMax) {
        this.#dropped++
        this.#hasDropped = true
      } else this.#buffer.add(readings, receiptMs)
    }
  }

  /** For later. */
  hold(): void {
    if (this.#buffer.count === 0) return
    this.#heldBytes += this.#buffer.bytes
    this.#held.push(this.#buffer.take())
  }

  /** All that is here, on its way from now on. */
  *take(): Generator<PackedReadings> {
    this.hold()
    for (let packed = this.#held.shift(); packed !== undefined; packed = this.#held.shift()) {
      this.#heldBytes -= packed.byteLength
      this.#unansweredBytes += packed.byteLength
      yield packed
    }
  }

  /** The thread has evaluated so many bytes. */
  answered(bytes: number): void {
    this.#unansweredBytes -= bytes
  }

  /** Time of the oldest reading that is here, by the number of its device, epoch microseconds. */
  oldest(): Map<number, number> {
    this.hold()
    const oldest = new Map<number, number>()
    for (const packed of this.#held) {
      const reader = new PackedReader(packed)
      while (reader.next()) {
        const { device, timeUs } = reader
        oldest.set(device, Math.min(oldest.get(device) ?? Number.POSITIVE_INFINITY, timeUs))
      }
    }
    return oldest
  }
}
