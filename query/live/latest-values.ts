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
  value: number
  /** Epoch microseconds. */
  timeUs: number
}

export class LatestValues {
  readonly #columns: (LatestValue | undefined)[] = Array(metrics.length).fill(undefined)
  #series = noSeries

  get(key: number): LatestValue | undefined {
    if (key < 0) return this.#columns[columnKey(key)]
    return this.#series.find(one => one.key === key)
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
      const known = this.#columns[column]
      if (!Number.isNaN(value)) this.#set(known, columnKey(column), timeUs, value)
      else if (known?.timeUs === timeUs) {
        this.#columns[column] = undefined
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
      const [series, value] = [reading.customSeries(place), reading.customValue(place)]
      // An erased value is NaN.
      if (!Number.isNaN(value)) this.#set(this.get(series), series, timeUs, value)
    }
    return isLacking
  }

  #set(known: LatestValue | undefined, key: number, timeUs: number, value: number): void {
    if (known === undefined) this.#add({ key, value, timeUs })
    else if (timeUs >= known.timeUs) {
      known.value = value
      known.timeUs = timeUs
    }
  }

  #add(one: LatestValue): void {
    if (one.key < 0) {
      this.#columns[columnKey(one.key)] = one
      return
    }
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
    if (!Number.isNaN(value) && !(known !== undefined && timeUs <= known.timeUs)) this.#set(known, key, timeUs, value)
  }

  keep(isKept: (value: LatestValue) => boolean): void {
    for (const [column, known] of this.#columns.entries()) {
      if (known !== undefined && !isKept(known)) this.#columns[column] = undefined
    }
    if (!this.#series.every(isKept)) this.#series = this.#series.filter(isKept)
  }
}

function isIn(reading: StoredReadings, series: number): boolean {
  for (let place = 0; place < reading.customCount; place++) if (reading.customSeries(place) === series) return true
  return false
}
