/** Live data of each device: columns indexed by slot, some 385 bytes a device. */

import { metrics } from '../../store/tables.ts'
import { kindAt, stateAt } from './live-state.ts'

/** The 24 full hours, the present one and the next one, since readings may be ahead of our clock. */
export const ringHours = 26
export const metricCount = metrics.length
/** Marks a device without a metric. */
export const noMetric = 255

type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array

/** Times are epoch microseconds unless stated otherwise; -Infinity where unknown. */
function makeColumns(capacity: number) {
  return {
    numbers: new Int32Array(capacity),
    states: new Uint8Array(capacity),
    lastUs: new Float64Array(capacity),
    /** Indexed by slot and metric. */
    values: new Float64Array(capacity * metricCount),
    valuesUs: new Float64Array(capacity * metricCount),
    kinds: new Uint8Array(capacity),
    /** NaN while unknown. */
    expectedMs: new Float64Array(capacity),
    gapMs: new Float64Array(capacity),
    /** 1 where the interval is configured. */
    configured: new Uint8Array(capacity),
    /** The last reading that counts in its hour. */
    countedUs: new Float64Array(capacity),
    /** Hours since 1970: the hour of the first known reading, and the newest hour with a count. */
    firstHour: new Int32Array(capacity),
    newestHour: new Int32Array(capacity),
    /** Number of counted readings, by slot and hour modulo `ringHours`. */
    counts: new Uint16Array(capacity * ringHours),
    /** The metric with hourly means, the newest hour that has one, and the sum of that hour's values. */
    meanMetric: new Uint8Array(capacity),
    meanHour: new Int32Array(capacity),
    meanSums: new Float64Array(capacity),
    /** Laid out as `counts`: the number of values of each hour, and their mean, which is undefined without values. */
    meanCounts: new Uint16Array(capacity * ringHours),
    means: new Float32Array(capacity * ringHours),
    /**
     * Intervals since the last check of the expected one, how many are single ones, and how many are not near a
     * multiple of it.
     */
    intervals: new Uint8Array(capacity),
    singles: new Uint8Array(capacity),
    far: new Uint8Array(capacity),
    /** Seconds since 1970 before which QuestDB is not queried again. */
    notBefore: new Uint32Array(capacity),
  }
}

export type LiveColumns = ReturnType<typeof makeColumns>

/** Later than every real hour. */
export const neverHour = 2_147_483_647

export class Columns {
  #columns = makeColumns(64)

  get(): LiveColumns {
    return this.#columns
  }

  /** Reserves room for the slot and resets its columns. */
  clear(slot: number): void {
    if (slot >= this.#columns.numbers.length) this.#grow(slot + 1)
    const columns = this.#columns
    columns.states[slot] = stateAt.never
    columns.kinds[slot] = kindAt.unknown
    columns.expectedMs[slot] = Number.NaN
    columns.gapMs[slot] = Number.NaN
    columns.configured[slot] = 0
    columns.notBefore[slot] = 0
    this.clearReadings(slot)
  }

  /** The caller has to set the state. */
  clearReadings(slot: number): void {
    const columns = this.#columns
    columns.lastUs[slot] = Number.NEGATIVE_INFINITY
    columns.values.fill(Number.NaN, slot * metricCount, (slot + 1) * metricCount)
    columns.valuesUs.fill(Number.NEGATIVE_INFINITY, slot * metricCount, (slot + 1) * metricCount)
    columns.countedUs[slot] = Number.NEGATIVE_INFINITY
    columns.firstHour[slot] = neverHour
    columns.newestHour[slot] = 0
    columns.counts.fill(0, slot * ringHours, (slot + 1) * ringHours)
    clearMeans(columns, slot)
    for (const name of ['intervals', 'singles', 'far'] as const) columns[name][slot] = 0
  }

  #grow(slots: number): void {
    const before = this.#columns
    const after = makeColumns(Math.max(2 * before.numbers.length, slots))
    for (const [name, column] of Object.entries(after) as [keyof LiveColumns, Column][]) column.set(before[name])
    this.#columns = after
  }
}

export function clearMeans({ meanMetric, meanHour, meanSums, meanCounts }: LiveColumns, slot: number): void {
  meanMetric[slot] = noMetric
  meanHour[slot] = 0
  meanSums[slot] = 0
  meanCounts.fill(0, slot * ringHours, (slot + 1) * ringHours)
}
