/** Readings on their way to the thread that evaluates them, as numbers in buffers that are handed over. */

import { bug } from '../../store/limits/bug.ts'
import { metrics } from '../../store/tables.ts'
import type { EngineReading } from './value-watch.ts'

/** Of a reading: device, time in microseconds, receipt in milliseconds, and the built-in metrics. */
const width = 8
const builtInCount = width - 3
if (builtInCount !== metrics.length)
  throw bug(`a reading has ${metrics.length} built-in metrics, and room for ${builtInCount}`)
/** Of a custom value: the place of its reading, its series, and itself. */
const customWidth = 3
/** Readings that a buffer has room for at first. */
const capacityMin = 256
const capacityMax = 8192

export interface PackedReadings {
  readonly count: number
  /** Longer than the count may say. */
  readonly numbers: Float64Array<ArrayBuffer>
  readonly customCount: number
  readonly custom: Float64Array<ArrayBuffer>
}

/** What is packed: a stored reading, as its listener is told. */
interface Packable {
  readonly series: number
  readonly timeUs: number
  value(column: number): number
  readonly customCount: number
  customSeries(place: number): number
  customValue(place: number): number
}

/** Bytes of so many readings with so many custom values. */
export function bytesOf(count: number, customCount: number): number {
  return (count * width + customCount * customWidth) * Float64Array.BYTES_PER_ELEMENT
}

export class ReadingsBuffer {
  #numbers = new Float64Array(0)
  #custom = new Float64Array(0)
  #count = 0
  #customCount = 0
  /** As long as the last one was, so that it does not have to grow. */
  #lengthMin = capacityMin * width

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return bytesOf(this.#count, this.#customCount)
  }

  /** Written out: this runs for every reading of a covered device. */
  add(reading: Packable, receiptMs: number): void {
    const at = this.#reserve()
    const numbers = this.#numbers
    numbers[at] = reading.series
    numbers[at + 1] = reading.timeUs
    numbers[at + 2] = receiptMs
    numbers[at + 3] = reading.value(0)
    numbers[at + 4] = reading.value(1)
    numbers[at + 5] = reading.value(2)
    numbers[at + 6] = reading.value(3)
    numbers[at + 7] = reading.value(4)
    const { customCount } = reading
    for (let place = 0; place < customCount; place++) {
      this.addCustom(reading.customSeries(place), reading.customValue(place))
    }
  }

  addRow(device: number, timeUs: number, receiptMs: number, value: (column: number) => number): void {
    const at = this.#reserve()
    this.#numbers[at] = device
    this.#numbers[at + 1] = timeUs
    this.#numbers[at + 2] = receiptMs
    for (let column = 0; column < builtInCount; column++) this.#numbers[at + 3 + column] = value(column)
  }

  /** Where the next reading stands. */
  #reserve(): number {
    if ((this.#count + 1) * width > this.#numbers.length) this.#numbers = grown(this.#numbers, this.#lengthMin)
    return this.#count++ * width
  }

  /** Of the reading that was added last. */
  addCustom(series: number, value: number): void {
    const at = this.#customCount++ * customWidth
    if (at + customWidth > this.#custom.length) this.#custom = grown(this.#custom, capacityMin)
    this.#custom.set([this.#count - 1, series, value], at)
  }

  /** It is empty afterwards. */
  take(): PackedReadings {
    const taken: PackedReadings = {
      count: this.#count,
      numbers: this.#numbers,
      customCount: this.#customCount,
      custom: this.#custom,
    }
    this.#lengthMin = Math.min(Math.max(taken.count, capacityMin), capacityMax) * width
    this.#numbers = new Float64Array(0)
    this.#custom = new Float64Array(0)
    this.#count = 0
    this.#customCount = 0
    return taken
  }
}

function grown(before: Float64Array, lengthMin: number): Float64Array<ArrayBuffer> {
  const after = new Float64Array(Math.max(lengthMin, 2 * before.length))
  after.set(before)
  return after
}

/** Walks through them; each reading stands where it is. */
export class PackedReader implements EngineReading {
  readonly #packed: PackedReadings
  #at = -width
  #place = -1
  /** The custom values of the reading stand from here on. */
  #customAt = 0

  constructor(packed: PackedReadings) {
    this.#packed = packed
  }

  next(): boolean {
    const { count, custom, customCount } = this.#packed
    if (this.#place + 1 >= count) return false
    this.#place++
    this.#at += width
    const end = customCount * customWidth
    while (this.#customAt < end && (custom[this.#customAt] as number) < this.#place) this.#customAt += customWidth
    return true
  }

  get device(): number {
    return this.#packed.numbers[this.#at] as number
  }

  get timeUs(): number {
    return this.#packed.numbers[this.#at + 1] as number
  }

  get receiptMs(): number {
    return this.#packed.numbers[this.#at + 2] as number
  }

  value(column: number): number {
    return this.#packed.numbers[this.#at + 3 + column] as number
  }

  custom(series: number): number {
    const { custom, customCount } = this.#packed
    const end = customCount * customWidth
    for (let at = this.#customAt; at < end && custom[at] === this.#place; at += customWidth) {
      if (custom[at + 1] === series) return custom[at + 2] as number
    }
    return Number.NaN
  }
}
