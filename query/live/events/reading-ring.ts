/**
 * The latest stored readings in columns of a fixed length, numbered since the start. Where other processes send the
 * same readings, each reading also has a position, which is the same in all of them. Elsewhere its number is its
 * position.
 */

import { bug } from '../../../store/limits/bug.ts'
import { metrics } from '../../../store/tables.ts'
import type { StoredCustom, StoredReadings } from '../latest-values.ts'

export interface RingOptions {
  bytesMax: number
  ageMsMax: number
  nowMs: () => number
  /** No reading before this position will be appended any more. Without it, numbers are positions. */
  nextPosition?: (() => number) | undefined
}

/** A group of readings that the ring copies. */
export interface ReadingGroup extends StoredReadings {
  readonly count: number
  /** Position of the first reading. The others follow one by one. */
  readonly place?: { readonly position: number } | undefined
}

const rowBytes = 4 + 2 * 8 + metrics.length * 8
const positionBytes = 8

interface Columns {
  readonly devices: Uint32Array
  readonly timesUs: Float64Array
  readonly storedMs: Float64Array
  /** Ascending; unused without `nextPosition`. */
  readonly positions: Float64Array
  readonly values: readonly Float64Array[]
}

function columnsOf(rowsMax: number, hasPositions: boolean): Columns {
  return {
    devices: new Uint32Array(rowsMax),
    timesUs: new Float64Array(rowsMax),
    storedMs: new Float64Array(rowsMax),
    positions: new Float64Array(hasPositions ? rowsMax : 0),
    values: metrics.map(() => new Float64Array(rowsMax)),
  }
}

export class ReadingRing {
  readonly #options: RingOptions
  readonly #rowBytes: number
  #rowsMax: number
  /** Allocated for the first listener. */
  #columns: Columns | undefined
  /** Allocated for the first reading with values without a column, from the same memory. */
  #custom: CustomRing | undefined
  /** All readings at or behind this position are kept. */
  #keptFrom: number
  #head = 0
  #tail = 0

  constructor(options: RingOptions) {
    this.#options = options
    const { bytesMax, nextPosition } = options
    this.#rowBytes = rowBytes + (nextPosition === undefined ? 0 : positionBytes)
    this.#rowsMax = Math.max(1, Math.floor(bytesMax / this.#rowBytes))
    this.#keptFrom = nextPosition?.() ?? 0
  }

  get head(): number {
    return this.#head
  }

  /** The number of the oldest kept reading, whatever its age. */
  get tail(): number {
    return this.#tail
  }

  append(readings: ReadingGroup): void {
    const hasPositions = this.#options.nextPosition !== undefined
    this.#columns ??= columnsOf(this.#rowsMax, hasPositions)
    let position = readings.place?.position ?? Number.NaN
    const nowMs = this.#options.nowMs()
    const end = this.#head + readings.count
    while (readings.next()) {
      if (readings.customCount > 0 && this.#custom === undefined) this.#makeRoomForCustom()
      const { devices, timesUs, storedMs, positions, values } = this.#columns
      this.#custom?.append(this.#head, readings)
      const row = this.#head++ % this.#rowsMax
      if (hasPositions) {
        if (this.#head > this.#rowsMax) this.#keptFrom = Math.max(this.#keptFrom, (positions[row] as number) + 1)
        positions[row] = position++
      }
      devices[row] = readings.series
      timesUs[row] = readings.timeUs
      storedMs[row] = nowMs
      for (let column = 0; column < values.length; column++) {
        ;(values[column] as Float64Array)[row] = readings.value(column)
      }
    }
    if (this.#head !== end) throw bug(`ring at ${this.#head} after ${readings.count} readings up to ${end}`)
    this.#tail = Math.max(this.#tail, this.#head - this.#rowsMax)
    while (this.#custom?.isLost(this.#tail) && this.#tail < this.#head)
      this.#keptFrom = this.#positionAt(this.#tail++) + 1
  }

  /** Reduces the capacity. The newest readings stay. */
  #makeRoomForCustom(): void {
    const rowsBefore = this.#rowsMax
    const hasPositions = this.#options.nextPosition !== undefined
    const before = this.#columns ?? columnsOf(rowsBefore, hasPositions)
    this.#rowsMax = Math.max(1, Math.floor(this.#options.bytesMax / (this.#rowBytes + customRowBytes)))
    const after = columnsOf(this.#rowsMax, hasPositions)
    const tail = Math.max(this.#tail, this.#head - Math.min(rowsBefore, this.#rowsMax))
    if (hasPositions && tail > this.#tail) this.#keptFrom = (before.positions[(tail - 1) % rowsBefore] as number) + 1
    this.#tail = tail
    for (let number = this.#tail; number < this.#head; number++) {
      const [from, to] = [number % rowsBefore, number % this.#rowsMax]
      after.devices[to] = before.devices[from] as number
      after.timesUs[to] = before.timesUs[from] as number
      after.storedMs[to] = before.storedMs[from] as number
      if (hasPositions) after.positions[to] = before.positions[from] as number
      for (const [column, values] of after.values.entries()) values[to] = before.values[column]?.[from] as number
    }
    this.#columns = after
    this.#custom = new CustomRing(this.#rowsMax, this.#head)
  }

  /** Skipped readings are counted: neither they nor earlier readings will be requested. */
  skip(count: number): void {
    this.#head += count
    this.#tail = this.#head
    this.#keptFrom = this.#options.nextPosition?.() ?? this.#head
  }

  /** Earlier readings have positions before this one, this reading and later ones do not. */
  position(number: number): number {
    const { nextPosition } = this.#options
    if (nextPosition === undefined) return number
    if (number >= this.#head) return nextPosition()
    return number <= this.#tail ? this.#keptFrom : this.#positionAt(number)
  }

  /**
   * The number of the first reading at or behind this position; undefined when a reading was dropped. `ahead` means
   * that readings before the position may still be missing.
   */
  find(position: number): number | 'ahead' | undefined {
    const { nextPosition } = this.#options
    if (nextPosition === undefined) return position > this.#head ? undefined : position
    if (position < this.#keptFrom) return undefined
    if (position > nextPosition()) return 'ahead'
    let [low, high] = [this.#tail, this.#head]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (this.#positionAt(middle) >= position) high = middle
      else low = middle + 1
    }
    return low
  }

  #positionAt(number: number): number {
    return this.#columns?.positions[number % this.#rowsMax] as number
  }

  /** Every reading from this number on is kept, and young enough. */
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

  /** NaN for a missing value. */
  value(number: number, column: number): number {
    return this.#columns?.values[column]?.[number % this.#rowsMax] as number
  }

  /** Calls `take` with each value of a reading without a column. */
  eachCustom(number: number, take: (series: number, value: number) => void): void {
    this.#custom?.each(number, take)
  }

  /** Time at which the previous reading was stored; -Infinity when it is not kept. */
  storedBeforeMs(number: number): number {
    return number > this.#tail ? this.#storedMs(number - 1) : Number.NEGATIVE_INFINITY
  }

  #storedMs(number: number): number {
    return this.#columns?.storedMs[number % this.#rowsMax] as number
  }
}

/** Average number of values of a reading. With more, fewer readings are kept. */
const valuesPerRow = 4
const valueBytes = 4 + 8
/** Bytes for each reading of the ring. */
const customRowBytes = 8 + valuesPerRow * valueBytes
/** The most values of one reading. */
const valuesMin = 64

class CustomRing {
  /** Index of each reading's first value, counted from the first value of all. */
  readonly #starts: Float64Array
  readonly #series: Uint32Array
  readonly #values: Float64Array
  /** Readings before this number have no values here. */
  readonly #firstNumber: number
  #head = 0
  #nextNumber: number

  constructor(rowsMax: number, firstNumber: number) {
    const valuesMax = Math.max(valuesMin, rowsMax * valuesPerRow)
    this.#starts = new Float64Array(rowsMax)
    this.#series = new Uint32Array(valuesMax)
    this.#values = new Float64Array(valuesMax)
    this.#firstNumber = firstNumber
    this.#nextNumber = firstNumber
  }

  append(number: number, readings: StoredCustom): void {
    this.#starts[number % this.#starts.length] = this.#head
    for (let place = 0; place < readings.customCount; place++, this.#head++) {
      const at = this.#head % this.#values.length
      this.#series[at] = readings.customSeries(place)
      this.#values[at] = readings.customValue(place)
    }
    this.#nextNumber = number + 1
  }

  /** Values of this reading have been overwritten. */
  isLost(number: number): boolean {
    if (number < this.#firstNumber || number >= this.#nextNumber) return false
    return this.#start(number) < this.#head - this.#values.length
  }

  each(number: number, take: (series: number, value: number) => void): void {
    if (number < this.#firstNumber || number >= this.#nextNumber) return
    const end = number + 1 < this.#nextNumber ? this.#start(number + 1) : this.#head
    for (let place = this.#start(number); place < end; place++) {
      const at = place % this.#values.length
      take(this.#series[at] as number, this.#values[at] as number)
    }
  }

  #start(number: number): number {
    return this.#starts[number % this.#starts.length] as number
  }
}
