/** Readings from QuestDB in columns: 8 bytes a number instead of the hundred of a row object. */

import { bug } from '../../store/limits/bug.ts'

/** Growable columns: a time, the row's group, and one number for each metric; NaN for a missing one. */
export class ReadingsColumns {
  readonly #metricCount: number
  #length = 0
  #groups: Uint32Array
  #timesUs: Float64Array
  #values: Float64Array[]

  constructor(metricCount: number, rowsExpected: number) {
    const capacity = Math.max(16, rowsExpected)
    this.#metricCount = metricCount
    this.#groups = new Uint32Array(capacity)
    this.#timesUs = new Float64Array(capacity)
    this.#values = Array.from({ length: metricCount }, () => new Float64Array(capacity))
  }

  get length(): number {
    return this.#length
  }

  get timesUs(): Float64Array {
    return this.#timesUs.subarray(0, this.#length)
  }

  values(metric: number): Float64Array {
    return (this.#values[metric] ?? new Float64Array(0)).subarray(0, this.#length)
  }

  /** `row` has the metrics from index `first` on. Rows come in the order of time, as every series is written. */
  add(group: number, timeUs: number, row: readonly unknown[], first: number): void {
    const at = this.#length
    if (at > 0 && !(timeUs >= (this.#timesUs[at - 1] as number))) {
      throw bug(`rows out of order: ${timeUs} after ${this.#timesUs[at - 1]}`)
    }
    if (at === this.#timesUs.length) this.#grow()
    this.#groups[at] = group
    this.#timesUs[at] = timeUs
    for (let metric = 0; metric < this.#metricCount; metric++) {
      const value = row[first + metric]
      ;(this.#values[metric] as Float64Array)[at] = typeof value === 'number' ? value : Number.NaN
    }
    this.#length = at + 1
  }

  /** The rows of each group from 0 to `groupCount` − 1, in their order of arrival. */
  byGroup(groupCount: number): Uint32Array[] {
    const starts = new Uint32Array(groupCount + 1)
    for (let row = 0; row < this.#length; row++) {
      const group = this.#groups[row] as number
      starts[group] = (starts[group] as number) + 1
    }
    let start = 0
    for (let group = 0; group <= groupCount; group++) {
      const count = starts[group] as number
      starts[group] = start
      start += count
    }
    const order = new Uint32Array(this.#length)
    const next = starts.slice()
    for (let row = 0; row < this.#length; row++) {
      const group = this.#groups[row] as number
      const at = next[group] as number
      order[at] = row
      next[group] = at + 1
    }
    return Array.from({ length: groupCount }, (_, group) => order.subarray(starts[group], starts[group + 1]))
  }

  #grow(): void {
    const capacity = this.#timesUs.length * 2
    const longer = (column: Float64Array) => {
      const grown = new Float64Array(capacity)
      grown.set(column)
      return grown
    }
    const groups = new Uint32Array(capacity)
    groups.set(this.#groups)
    this.#groups = groups
    this.#timesUs = longer(this.#timesUs)
    this.#values = this.#values.map(longer)
  }
}
