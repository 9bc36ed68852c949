/**
 * The last hours of a device: the number of its readings, and the means of one metric for its sparkline and its trend.
 * The metric is the first of temperature, humidity and pressure with a value within a day. Hours count since 1970.
 */

import { bug } from '../../store/limits/bug.ts'
import { airMetrics } from '../series.ts'
import type { LatestValues } from './latest-values.ts'
import type { LiveCadence } from './live-state.ts'

export const hourMs = 3_600_000
export const hourUs = hourMs * 1000
export const hoursShown = 24
/** Values that are older than this before the last reading are neither shown nor loaded. */
export const valueAgeUsMax = 24 * hourUs
/** The full hours, the present one and the next one, since readings may be ahead of our clock. */
const ringHours = hoursShown + 2
const noMetric: number = airMetrics.length

/** The number of some values of an hour, and their mean. */
export interface HourMean {
  readonly count: number
  readonly mean: number
}

export class DeviceHours {
  /** The hour of the first known reading; Infinity without one. */
  first = Number.POSITIVE_INFINITY
  /** The last hours up to the newest one, each at its number modulo `ringHours`. */
  #newest = 0
  readonly #counts = noHours()
  readonly #valueCounts = noHours()
  readonly #sums = noHours()
  #metric = noMetric

  begin(hour: number): void {
    if (hour < this.first) this.first = hour
  }

  /** Counts a reading that came in the order of time. */
  count(hour: number): void {
    if (this.#reach(hour)) (this.#counts[hour % ringHours] as number)++
  }

  /** Takes QuestDB's count of an hour, which may lack readings in transit unless it is exact. */
  setCount(hour: number, count: number, isExact: boolean): void {
    if (!this.#reach(hour)) return
    const at = hour % ringHours
    this.#counts[at] = isExact ? count : Math.max(count, this.#counts[at] as number)
  }

  /** False for an hour that is no longer kept. The hours before a new one are empty. */
  #reach(hour: number): boolean {
    const from = Math.max(this.#newest, hour - ringHours) + 1
    for (let empty = from; empty <= hour; empty++) {
      const at = empty % ringHours
      this.#counts[at] = 0
      this.#valueCounts[at] = 0
      this.#sums[at] = 0
    }
    this.#newest = Math.max(this.#newest, hour)
    return hour > this.#newest - ringHours
  }

  /** Rescales the counts after a change of the expected interval, so that past hours stay as complete as they were. */
  rescale(factor: number): void {
    if (!(factor > 0 && factor < Number.POSITIVE_INFINITY)) throw bug(`invalid factor ${factor} for hourly counts`)
    for (const [at, count] of this.#counts.entries()) {
      if (count > 0) this.#counts[at] = Math.max(1, Math.round(count * factor))
    }
  }

  #countOf(hour: number): number {
    return this.#isKept(hour) ? (this.#counts[hour % ringHours] as number) : 0
  }

  #isKept(hour: number): boolean {
    return hour <= this.#newest && hour > this.#newest - ringHours
  }

  /**
   * 24 letters, oldest first: `A` no reading, `B` under half of the expected readings, `C` under 90 %, `D` complete,
   * `-` before the first reading. Without a regular interval, an hour with a reading is complete.
   */
  text(nowMs: number, cadence: LiveCadence): string {
    const presentHour = Math.floor(nowMs / hourMs)
    let text = ''
    for (let hour = presentHour - hoursShown; hour < presentHour; hour++) {
      text += hour < this.first ? '-' : letterOf(this.#countOf(hour), cadence)
    }
    return text
  }

  /**
   * Share of the expected readings in a full hour; NaN for an irregular device, up to the hour of its first reading,
   * and for hours that are no longer kept.
   */
  share(hour: number, { kind, expectedMs }: LiveCadence): number {
    if (kind !== 'regular' || hour <= this.first || hour <= this.#newest - ringHours) return Number.NaN
    return (this.#countOf(hour) * (expectedMs ?? Number.NaN)) / hourMs
  }

  /**
   * A guess of the interval from the counts of full hours, used until the estimate is known. The fuller hours decide,
   * since hours may lack readings. NaN with fewer than two readings an hour.
   */
  interval(presentHour: number): number {
    const counts = Array.from({ length: hoursShown }, (_, ago) => this.#countOf(presentHour - 1 - ago))
    const high = counts.toSorted((a, b) => b - a)[Math.floor(counts.filter(count => count > 0).length / 4)] ?? 0
    if (high < 2) return Number.NaN
    const full = counts.filter(count => count >= 0.9 * high && count <= 1.1 * high)
    return (hourMs * full.length) / full.reduce((sum, count) => sum + count, 0)
  }

  /** Index into `airMetrics`; undefined without a value of these. */
  get metric(): number | undefined {
    return this.#metric === noMetric ? undefined : this.#metric
  }

  /**
   * Adds the value of a reading that is later than all before to its hour. `values` include the reading. True when
   * another metric takes over, whose hours are unknown.
   */
  addValue(hour: number, reading: { timeUs: number; value(column: number): number }, values: LatestValues): boolean {
    const before = this.#metric
    let first = 0
    while (first < noMetric && Number.isNaN(reading.value(first))) first++
    if (first < before || (first !== noMetric && first !== before && !isRecent(values, before, reading.timeUs))) {
      this.#setMetric(first)
    }
    const value = reading.value(this.#metric)
    if (this.#metric !== noMetric && !Number.isNaN(value) && this.#reach(hour)) {
      ;(this.#valueCounts[hour % ringHours] as number)++
      ;(this.#sums[hour % ringHours] as number) += value
    }
    return this.#metric !== before && before !== noMetric
  }

  /** Chooses the metric by the last known values. */
  chooseMetric(values: LatestValues, lastUs: number): void {
    const found = airMetrics.findIndex((_, metric) => isRecent(values, metric, lastUs))
    if (found >= 0 && found !== this.#metric) this.#setMetric(found)
  }

  #setMetric(metric: number): void {
    this.#metric = metric
    this.#valueCounts.fill(0)
    this.#sums.fill(0)
  }

  /** Takes QuestDB's mean of an hour, which may lack readings in transit unless it is exact. */
  setMean(hour: number, { count, mean }: HourMean, isExact: boolean): void {
    const known = this.#isKept(hour) ? (this.#valueCounts[hour % ringHours] as number) : 0
    if (!(isExact || count > known) || !this.#reach(hour)) return
    this.#valueCounts[hour % ringHours] = count
    this.#sums[hour % ringHours] = count === 0 ? 0 : count * mean
  }

  /** NaN without a value in the hour, and for hours that are no longer kept. */
  mean(hour: number): number {
    if (!this.#isKept(hour)) return Number.NaN
    return (this.#sums[hour % ringHours] as number) / (this.#valueCounts[hour % ringHours] as number)
  }
}

function noHours(): number[] {
  return Array(ringHours).fill(0)
}

function letterOf(count: number, { kind, expectedMs }: LiveCadence): string {
  if (count === 0) return 'A'
  const share = kind === 'regular' ? (count * (expectedMs ?? Number.NaN)) / hourMs : 1
  if (share < 0.5) return 'B'
  return share < 0.9 ? 'C' : 'D'
}

function isRecent(values: LatestValues, metric: number, timeUs: number): boolean {
  return values.timeOf(metric) > timeUs - valueAgeUsMax
}
