/** The latest stored readings in columns of a fixed length, by a number that counts all readings since the start. */

import { bug } from '../../limits/bug.ts'
import { metrics } from '../../store/tables.ts'

export interface RingOptions {
  bytesMax: number
  ageMsMax: number
  nowMs: () => number
}

/** What is read of the readings of a group; see ingest/journal/stored-records.ts. */
export interface StoredReadings {
  readonly count: number
  next(): boolean
  readonly series: number
  readonly timeUs: number
  value(column: number): number
}

const rowBytes = 4 + 2 * 8 + metrics.length * 8

export class ReadingRing {
  readonly #options: RingOptions
  readonly #rowsMax: number
  /** Made for the first listener. */
  #columns:
    | { devices: Uint32Array; timesUs: Float64Array; storedMs: Float64Array; values: readonly Float64Array[] }
    | undefined
  #head = 0
  #tail = 0

  constructor(options: RingOptions) {
    this.#options = options
    this.#rowsMax = Math.max(1, Math.floor(options.bytesMax / rowBytes))
  }

  /** The number of the next reading. */
  get head(): number {
    return this.#head
  }

  /** The number of the oldest reading that is kept, whatever its age. */
  get tail(): number {
    return this.#tail
  }

  append(readings: StoredReadings): void {
    const rowsMax = this.#rowsMax
    this.#columns ??= {
      devices: new Uint32Array(rowsMax),
      timesUs: new Float64Array(rowsMax),
      storedMs: new Float64Array(rowsMax),
      values: metrics.map(() => new Float64Array(rowsMax)),
    }
    const { devices, timesUs, storedMs, values } = this.#columns
    const nowMs = this.#options.nowMs()
    const end = this.#head + readings.count
    while (readings.next()) {
      const row = this.#head++ % rowsMax
      devices[row] = readings.series
      timesUs[row] = readings.timeUs
      storedMs[row] = nowMs
      for (let column = 0; column < values.length; column++) {
        ;(values[column] as Float64Array)[row] = readings.value(column)
      }
    }
    if (this.#head !== end) throw bug(`the ring is at ${this.#head}, behind ${readings.count} readings up to ${end}`)
    this.#tail = Math.max(this.#tail, this.#head - rowsMax)
  }

  /** Only counts them: nobody will ask for them, nor for those before. */
  skip(count: number): void {
    this.#head += count
    this.#tail = this.#head
  }

  /** Whether every reading from this number on is there, and young enough. */
  has(number: number): boolean {
    if (number < this.#tail || number > this.#head) return false
    return number === this.#head || this.#options.nowMs() - this.#storedMs(number) <= this.#options.ageMsMax
  }

  device(number: number): number {
    if (number >= this.#head) throw bug(`reading ${number} is not stored yet: the next is ${this.#head}`)
    return this.#columns?.devices[number % this.#rowsMax] as number
  }

  timeUs(number: number): number {
    return this.#columns?.timesUs[number % this.#rowsMax] as number
  }

  /** NaN for a missing one. */
  value(number: number, column: number): number {
    return this.#columns?.values[column]?.[number % this.#rowsMax] as number
  }

  #storedMs(number: number): number {
    return this.#columns?.storedMs[number % this.#rowsMax] as number
  }
}
