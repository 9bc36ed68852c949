/**
 * Share of suspect readings in an hour, by the rules of the analyses. An hour is judged by the 24 hours up to its end, which show
 * the sensor's usual behaviour.
 */

import { lowerBound } from '../../analytics/lower-bound.ts'
import { flagMissing, flagSuspect, judgeReadings } from '../../analytics/quality/quality.ts'
import type { QualityLimits } from '../../analytics/quality/quality-limits.ts'
import { flatMinMs, rounding } from '../../analytics/quality/sensor-limits.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { metrics } from '../../store/tables.ts'
import type { Condition } from './condition.ts'

export const hourMs = 3_600_000
export const suspectWindowMs = 24 * hourMs

/** Readings of one device, at ascending times. */
export interface SuspectWindow {
  readonly timesMs: Float64Array
  /** Each metric has a column; NaN where missing. */
  readonly values: readonly Float64Array[]
}

/** The criteria for suspect readings of a device. */
export interface DeviceQuality {
  /** Its interval as configured; null: by its readings. */
  readonly expectedMs: number | null
  /** Each metric has its limits. */
  readonly limits: readonly QualityLimits[]
}

/** Returns the metrics whose readings are judged. A rule without a metric judges the built-in ones. */
export function suspectMetrics({ metric }: Extract<Condition, { kind: 'suspect' }>): readonly string[] {
  return metric === undefined ? metrics : [metric]
}

/**
 * Share of suspect readings among those since `fromMs` with one of the metrics, and 1 with a flat line among them. NaN without such
 * readings, and for a sensor that has stood still for a whole day, since its usual behaviour is unknown.
 */
export function suspectShare(window: SuspectWindow, fromMs: number, quality: DeviceQuality): number {
  const { timesMs, values } = window
  const from = lowerBound(timesMs, fromMs)
  const rows = new Rows(timesMs.length - from)
  const gaps = cadenceOf(timesOf(window), quality.expectedMs).stretches
  for (const [index, column] of values.entries()) {
    const { flags, isFlat, isStill } = judgeReadings(timesMs, column, quality.limits[index] as QualityLimits, gaps)
    rows.note(flags.subarray(from))
    rows.isFlat ||= isFlat.includes(1, from)
    rows.isStill ||= isStill.includes(1, from)
  }
  if (rows.isFlat) return 1
  return rows.isStill ? Number.NaN : rows.share()
}

/** Times of the readings that have one of the metrics. */
function timesOf({ timesMs, values }: SuspectWindow): Float64Array {
  return timesMs.filter((_, row) => values.some(column => !Number.isNaN(column[row] as number)))
}

class Rows {
  isFlat = false
  isStill = false
  readonly #isThere: Uint8Array
  readonly #isSuspect: Uint8Array

  constructor(length: number) {
    this.#isThere = new Uint8Array(length)
    this.#isSuspect = new Uint8Array(length)
  }

  /** Records the flags of one metric. */
  note(flags: Uint8Array): void {
    for (let row = 0; row < flags.length; row++) {
      if (flags[row] !== flagMissing) this.#isThere[row] = 1
      if (flags[row] === flagSuspect) this.#isSuspect[row] = 1
    }
  }

  /** NaN without any. */
  share(): number {
    let [there, suspect] = [0, 0]
    for (let row = 0; row < this.#isThere.length; row++) {
      there += this.#isThere[row] as number
      suspect += this.#isSuspect[row] as number
    }
    return suspect / there
  }
}

/** The numbers of a device and a metric: of the two hours before, of the hour, the last value, and the largest step in the hour. */
const [lowBefore, highBefore, low, high, last, step] = [0, 1, 2, 3, 4, 5]
const numbersOfMetric = 6
const blank = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

/**
 * Excludes most devices from the search for suspect readings, by a few numbers of three hours instead of the readings of a day.
 * Without two successive readings as far apart as a limit, a sensor has no spike and no jump. A change by more than a flat line
 * within two hours excludes a flat line, which takes three. A sensor's own readings only raise the limits.
 */
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

  /** Returns 0 where no reading of the hour is suspect, NaN without a reading, and undefined where the values have to be read. */
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
