/**
 * The times of each device whose readings were let go. Of the newest of them each time is kept, in 8 bytes; of older ones only
 * the first and the last time of a run, which then stands for all between.
 */

interface Run {
  readonly startUs: number
  readonly endUs: number
  /** In order. */
  timesUs: Float64Array | undefined
}

const timesKeptMax = 50_000_000

export class SentTimes {
  readonly #keptMax: number
  readonly #runs = new Map<string, Run[]>()
  /** Runs with times, the oldest first. */
  readonly #kept = new Set<Run>()
  #keptCount = 0

  constructor(keptMax = timesKeptMax) {
    this.#keptMax = keptMax
  }

  /** Adds at least one time of one device, in order. */
  add(device: string, timesUs: Float64Array): void {
    const run = { startUs: timesUs[0] as number, endUs: timesUs.at(-1) as number, timesUs }
    const runs = this.#runs.get(device)
    if (runs === undefined) this.#runs.set(device, [run])
    else runs.push(run)
    this.#kept.add(run)
    this.#keptCount += timesUs.length
    for (const oldest of this.#kept) {
      if (this.#keptCount <= this.#keptMax) break
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

/** By binary search. */
function includes(sorted: Float64Array, value: number): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return sorted[low] === value
}
