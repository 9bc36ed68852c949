/**
 * Puts values of one device and time that stand in several lines together. Some readings are held: a file of fewer may be in
 * any order. Beyond that those are let go that no line has added to for longest, so a longer file may be in the order of time or
 * of series. A line comes too late when its reading was let go.
 */

import type { MappedReading } from './mapped-reading.ts'
import { SentTimes } from './sent-times.ts'

export interface HeldReading extends MappedReading {
  /** In which it began. */
  readonly line: number
}

/** Some 200 bytes each. */
const readingsHeldMax = 1_000_000

export class ReadingMerger {
  readonly #heldMax: number
  /** Least recently extended lines come first. */
  readonly #held = new Map<string, HeldReading>()
  readonly #sent = new SentTimes()
  #replaced = 0

  constructor(heldMax = readingsHeldMax) {
    this.#heldMax = heldMax
  }

  /** False when it comes too late. */
  add(reading: HeldReading): boolean {
    const { values, custom = [] } = reading
    const key = keyOf(reading)
    const known = this.#held.get(key)
    if (known === undefined) {
      if (this.#sent.has(reading.device, reading.timeUs)) return false
      this.#held.set(key, { ...reading, custom: new Map(custom) })
      return true
    }
    if (hasValueOf(known, reading)) this.#replaced++
    for (const [index, value] of values.entries()) if (!Number.isNaN(value)) known.values[index] = value
    for (const [metric, value] of custom) known.custom?.set(metric, value)
    this.#held.delete(key)
    this.#held.set(key, known)
    return true
  }

  /** How many lines replaced a value of an earlier one, since the last call. */
  takeReplaced(): number {
    const replaced = this.#replaced
    this.#replaced = 0
    return replaced
  }

  isFull(): boolean {
    return this.#held.size >= this.#heldMax
  }

  /** The half that was not added to for longest, in the order of time and then of devices. */
  takeHalf(): HeldReading[] {
    const taken = [...this.#held.values().take(Math.ceil(this.#held.size / 2))]
    for (const reading of taken) this.#held.delete(keyOf(reading))
    const sorted = inOrder(taken)
    for (const [device, ofDevice] of Map.groupBy(sorted, ({ device }) => device)) {
      this.#sent.add(
        device,
        Float64Array.from(ofDevice, ({ timeUs }) => timeUs),
      )
    }
    return sorted
  }

  takeAll(): HeldReading[] {
    const sorted = inOrder([...this.#held.values()])
    this.#held.clear()
    return sorted
  }
}

function hasValueOf(known: HeldReading, { values, custom = new Map() }: HeldReading): boolean {
  const isPut = values.some((value, index) => !Number.isNaN(value) && !Number.isNaN(known.values[index]))
  return isPut || custom.keys().some(metric => known.custom?.has(metric) === true)
}

function keyOf({ timeUs, device }: HeldReading): string {
  return `${timeUs}/${device}`
}

function inOrder(readings: HeldReading[]): HeldReading[] {
  return readings.sort((a, b) => a.timeUs - b.timeUs || (a.device < b.device ? -1 : 1))
}
