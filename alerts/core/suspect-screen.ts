/**
 * Excludes most devices from the search for suspect readings, by a few numbers of three hours instead of the readings of a day.
 * Without two successive readings as far apart as a limit, a sensor has no spike and no jump. A change by more than a flat line
 * within two hours excludes a flat line, which takes three. A sensor's own readings only raise the limits.
 */

import type { QualityLimits } from '../../analytics/quality/quality-limits.ts'
import { flatMinMs, rounding } from '../../analytics/quality/sensor-limits.ts'
import { type DeviceQuality, hourMs } from './suspect-share.ts'

/** The numbers of a device and a metric: of the two hours before, of the hour, the last value, and the largest step in the hour. */
const [lowBefore, highBefore, low, high, last, step] = [0, 1, 2, 3, 4, 5]
const numbersOfMetric = 6
const blank = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

export class SuspectScreen {
  readonly #hourBeginMs: number
  readonly #metrics: number
  readonly #numbers: Float64Array

  /** Devices are numbered by places from 0. */
  constructor(hourBeginMs: number, devices: number, metrics: number) {
    this.#hourBeginMs = hourBeginMs
    this.#metrics = metrics
    this.#numbers = new Float64Array(devices * metrics * numbersOfMetric)
    for (let at = 0; at < this.#numbers.length; at += numbersOfMetric) {
      this.#numbers.set([...blank, ...blank, Number.NaN, 0], at)
    }
  }

  /** Start of the readings that it takes, in the order of time for each device. */
  get fromMs(): number {
    return this.#hourBeginMs + hourMs - flatMinMs
  }

  take(place: number, metric: number, timeMs: number, value: number): void {
    if (Number.isNaN(value)) return
    const numbers = this.#numbers
    const at = this.#at(place, metric)
    const isBefore = timeMs < this.#hourBeginMs
    const [least, most] = isBefore ? [at + lowBefore, at + highBefore] : [at + low, at + high]
    if (value < (numbers[least] as number)) numbers[least] = value
    if (value > (numbers[most] as number)) numbers[most] = value
    if (!isBefore)
      numbers[at + step] = Math.max(numbers[at + step] as number, stepOf(value, numbers[at + last] as number))
    numbers[at + last] = value
  }

  #at(place: number, metric: number): number {
    return (place * this.#metrics + metric) * numbersOfMetric
  }

  /** By these metrics: 0 where no reading of the hour is suspect, NaN without a reading, and undefined where they have to be looked at. */
  share(place: number, metrics: readonly number[], { limits }: Pick<DeviceQuality, 'limits'>): number | undefined {
    const there = metrics.filter(metric => this.#hasReadings(place, metric))
    if (there.length === 0) return Number.NaN
    return there.some(metric => this.#mayBeSuspect(place, metric, limits[metric] as QualityLimits)) ? undefined : 0
  }

  #hasReadings(place: number, metric: number): boolean {
    const at = this.#at(place, metric)
    return (this.#numbers[at + low] as number) <= (this.#numbers[at + high] as number)
  }

  #mayBeSuspect(place: number, metric: number, limits: QualityLimits): boolean {
    const at = this.#at(place, metric)
    const [least, most] = [this.#numbers[at + low] as number, this.#numbers[at + high] as number]
    const change = this.#numbers[at + step] as number
    const { range, spike, rate } = limits
    if (range !== null && (least < range[0] || most > range[1])) return true
    // The distance from a value to the mean of its neighbours is at most the larger step to them.
    if (spike !== null && change > spike) return true
    if (rate.some(([, allowed]) => change > allowed)) return true
    return this.#mayBeFlat(at, limits)
  }

  #mayBeFlat(at: number, { flat, flatMs }: QualityLimits): boolean {
    if (flat === null) return false
    if (flatMs !== null && flatMs < flatMinMs) return true
    const change = (this.#numbers[at + highBefore] as number) - (this.#numbers[at + lowBefore] as number)
    return !(change >= flat - rounding)
  }
}

/** Readings before the three hours are unknown. */
function stepOf(value: number, before: number): number {
  return Number.isNaN(before) ? Number.POSITIVE_INFINITY : Math.abs(value - before)
}
