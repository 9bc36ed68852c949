/**
 * Puts values of one device and time that stand in several lines together. Some readings are held: a file of fewer may be in
 * any order. Beyond that those are let go that no line has added to for longest, so a longer file may be in the order of time or
 * of series. A line comes too late when its reading was let go.
 */

import type { MappedReading } from './mapped-reading.ts'

export interface HeldReading extends MappedReading {
  /** Number of the line in which the reading began. */
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

  /** Number of lines that replaced a value of an earlier one, since the last call. */
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

interface Run {
  readonly startUs: number
  readonly endUs: number
  /** Times ascend. */
  timesUs: Float64Array | undefined
}

const timesKeptMax = 50_000_000

/**
 * The times of each device whose readings were let go. Of the newest of them each time is kept, in 8 bytes; of older ones only
 * the first and the last time of a run, which then stands for all between.
 */
class SentTimes {
  readonly #runs = new Map<string, Run[]>()
  /** Runs with times, the oldest first. */
  readonly #kept = new Set<Run>()
  #keptCount = 0

  /** Adds at least one time of one device, in order. */
  add(device: string, timesUs: Float64Array): void {
    const run = { startUs: timesUs[0] as number, endUs: timesUs.at(-1) as number, timesUs }
    const runs = this.#runs.get(device)
    if (runs === undefined) this.#runs.set(device, [run])
    else runs.push(run)
    this.#kept.add(run)
    this.#keptCount += timesUs.length
    for (const oldest of this.#kept) {
      if (this.#keptCount <= timesKeptMax) break
      this.#keptCount -= oldest.timesUs?.length ?? 0
      oldest.timesUs = undefined
      this.#kept.delete(oldest)
    }
  }

  has(device: string, timeUs: number): boolean {
    const runs = this.#runs.get(device) ?? []
    return runs.some(({ startUs, endUs, timesUs }) => {
      return startUs <= timeUs && timeUs <= endUs && (timesUs === undefined || includes(timesUs, timeUs))
    })
  }
}

/** The search is binary. */
function includes(sorted: Float64Array, value: number): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return sorted[low] === value
}
