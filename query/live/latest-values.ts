/** The last value of each metric of a device, by a key: the number of its series, or `columnKey` of a built-in metric. */

import { metrics } from '../../store/tables.ts'

/** Values of a stored reading that have no column; see ingest/journal/stored-records.ts. */
export interface StoredCustom {
  readonly customCount: number
  /** The series number of one of them, by its index among them. */
  customSeries(place: number): number
  customValue(place: number): number
}

/** Readings in the order in which they became durable; see `ingest.onStored`. */
export interface StoredReadings extends StoredCustom {
  next(): boolean
  /** The device's number. */
  readonly series: number
  /** Epoch microseconds. */
  readonly timeUs: number
  /** Value of the metric in this column; NaN where missing. */
  value(column: number): number
}

/** The most series of a device. */
const seriesMax = 64
const noSeries: readonly LatestValue[] = []

/** Numbers of series are not negative. */
export function columnKey(column: number): number {
  return -1 - column
}

export interface LatestValue {
  readonly key: number
  readonly value: number
  /** Epoch microseconds. */
  readonly timeUs: number
}

const unknownUs = Number.NEGATIVE_INFINITY

/** Arrays of numbers for the built-in metrics take a third of the memory of an object for each value. */
export class LatestValues {
  /** Each column has a place. The time is -Infinity where no value is known. */
  readonly #values: number[] = Array(metrics.length).fill(Number.NaN)
  readonly #timesUs: number[] = Array(metrics.length).fill(unknownUs)
  #series: readonly LatestValue[] = noSeries

  get(key: number): LatestValue | undefined {
    if (key >= 0) return this.#series.find(one => one.key === key)
    const column = columnKey(key)
    const timeUs = this.timeOf(column)
    return timeUs === unknownUs ? undefined : { key, value: this.#values[column] as number, timeUs }
  }

  /** Epoch microseconds of a built-in metric's value; -Infinity without one. */
  timeOf(column: number): number {
    return this.#timesUs[column] ?? unknownUs
  }

  get hasSeries(): boolean {
    return this.#series.length > 0
  }

  /**
   * Takes the values of a reading. Of two values at one time the later one counts, as in QuestDB. True when the reading
   * replaces one with a value that it lacks: then only QuestDB knows the previous value.
   */
  take(reading: StoredReadings): boolean {
    const { timeUs } = reading
    let isLacking = false
    for (let column = 0; column < metrics.length; column++) {
      const value = reading.value(column)
      if (!Number.isNaN(value)) this.#set(columnKey(column), timeUs, value)
      else if (this.#timesUs[column] === timeUs) {
        this.#timesUs[column] = unknownUs
        isLacking = true
      }
    }
    if (reading.customCount === 0 && !this.hasSeries) return isLacking
    return this.#takeSeries(reading) || isLacking
  }

  #takeSeries(reading: StoredReadings): boolean {
    const { timeUs } = reading
    const before = this.#series
    this.#series = before.filter(({ key, timeUs: knownUs }) => knownUs !== timeUs || isIn(reading, key))
    const isLacking = this.#series.length < before.length
    for (let place = 0; place < reading.customCount; place++) {
      const value = reading.customValue(place)
      // An erased value is NaN.
      if (!Number.isNaN(value)) this.#set(reading.customSeries(place), timeUs, value)
    }
    return isLacking
  }

  /** A value of an earlier time is not taken. */
  #set(key: number, timeUs: number, value: number): void {
    const column = columnKey(key)
    if (key >= 0) this.#setSeries({ key, timeUs, value })
    else if (timeUs >= this.timeOf(column)) {
      this.#values[column] = value
      this.#timesUs[column] = timeUs
    }
  }

  #setSeries(one: LatestValue): void {
    const place = this.#series.findIndex(({ key }) => key === one.key)
    const known = this.#series[place]
    if (known === undefined) this.#add(one)
    else if (one.timeUs >= known.timeUs) this.#series = this.#series.with(place, one)
  }

  #add(one: LatestValue): void {
    // An erased value is removed later than the registry reuses its series, so it never has newer values.
    const oldest =
      this.#series.length < seriesMax
        ? undefined
        : this.#series.reduce((before, next) => (next.timeUs < before.timeUs ? next : before))
    this.#series = [...this.#series.filter(known => known !== oldest), one]
  }

  /** Takes a value from QuestDB, NaN for none. One of the same time or newer stays. */
  merge(key: number, timeUs: number, value: number): void {
    const known = this.get(key)
    if (!Number.isNaN(value) && !(known !== undefined && timeUs <= known.timeUs)) this.#set(key, timeUs, value)
  }

  /** Forgets the values before this time, in epoch microseconds. */
  forgetBefore(timeUs: number): void {
    for (const [column, knownUs] of this.#timesUs.entries()) if (knownUs < timeUs) this.#timesUs[column] = unknownUs
    this.#keepSeries(one => one.timeUs >= timeUs)
  }

  forgetSeries(erased: ReadonlySet<number>): void {
    this.#keepSeries(({ key }) => !erased.has(key))
  }

  #keepSeries(isKept: (one: LatestValue) => boolean): void {
    if (!this.#series.every(isKept)) this.#series = this.#series.filter(isKept)
  }
}

function isIn(reading: StoredReadings, series: number): boolean {
  for (let place = 0; place < reading.customCount; place++) if (reading.customSeries(place) === series) return true
  return false
}
