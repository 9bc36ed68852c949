/**
 * Puts values of one device and time that stand in several lines together. Some readings are held: a file of fewer may be in
 * any order. Beyond that the oldest ones are let go, and a line that belongs to a time before them comes too late.
 */

import type { MappedReading } from './mapped-reading.ts'

export interface HeldReading extends MappedReading {
  /** In which it began. */
  readonly line: number
}

/** Some 200 bytes each. */
const readingsHeldMax = 1_000_000

export class ReadingMerger {
  readonly #heldMax: number
  readonly #held = new Map<string, HeldReading>()
  #sentThroughUs = Number.NEGATIVE_INFINITY

  constructor(heldMax = readingsHeldMax) {
    this.#heldMax = heldMax
  }

  /** False when it comes too late. */
  add(reading: HeldReading): boolean {
    const { device, timeUs, values, further = [] } = reading
    if (timeUs <= this.#sentThroughUs) return false
    const key = `${timeUs}/${device}`
    const known = this.#held.get(key)
    if (known === undefined) {
      this.#held.set(key, { ...reading, further: new Map(further) })
      return true
    }
    for (const [index, value] of values.entries()) if (!Number.isNaN(value)) known.values[index] = value
    for (const [metric, value] of further) known.further?.set(metric, value)
    return true
  }

  isFull(): boolean {
    return this.#held.size >= this.#heldMax
  }

  /** The older half, in the order of time and then of devices. */
  takeOldest(): HeldReading[] {
    const sorted = this.#sorted()
    const half = sorted[Math.floor(sorted.length / 2)]
    if (half === undefined) return []
    // All of one time go together.
    const taken = sorted.filter(({ timeUs }) => timeUs <= half.timeUs)
    this.#sentThroughUs = half.timeUs
    for (const { timeUs, device } of taken) this.#held.delete(`${timeUs}/${device}`)
    return taken
  }

  takeAll(): HeldReading[] {
    const sorted = this.#sorted()
    this.#held.clear()
    return sorted
  }

  #sorted(): HeldReading[] {
    return [...this.#held.values()].sort((a, b) => a.timeUs - b.timeUs || (a.device < b.device ? -1 : 1))
  }
}
