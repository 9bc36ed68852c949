/**
 * The last values of metrics without a column, for devices that have any: some 20 bytes a value. A series stands for
 * the device and the metric.
 */

import type { StoredCustom } from './stored-custom.ts'

/** The most series of a device. */
const seriesMax = 64

interface Values {
  readonly series: number[]
  readonly values: number[]
  /** Epoch microseconds; -Infinity without a value. */
  readonly timesUs: number[]
}

export class CustomValues {
  /** Indexed by slot. */
  readonly #bySlot: (Values | undefined)[] = []

  has(slot: number): boolean {
    return this.#bySlot[slot] !== undefined
  }

  clear(slot: number): void {
    if (this.#bySlot[slot] !== undefined) this.#bySlot[slot] = undefined
  }

  /**
   * Takes the values of the reading at which `readings` stands. An older value never replaces a newer one. True when
   * the reading replaces one with a value that it lacks: then only QuestDB knows the previous value.
   */
  take(slot: number, timeUs: number, readings: StoredCustom): boolean {
    const { customCount } = readings
    if (customCount === 0 && this.#bySlot[slot] === undefined) return false
    const known = this.#of(slot)
    let isLacking = false
    for (let place = 0; place < known.series.length; place++) {
      if (known.timesUs[place] !== timeUs || hasSeries(readings, known.series[place] as number)) continue
      known.timesUs[place] = Number.NEGATIVE_INFINITY
      isLacking = true
    }
    for (let index = 0; index < customCount; index++) {
      // An erased value.
      if (Number.isNaN(readings.customValue(index))) continue
      const place = placeOf(known, readings.customSeries(index))
      if (timeUs >= (known.timesUs[place] as number)) {
        known.values[place] = readings.customValue(index)
        known.timesUs[place] = timeUs
      }
    }
    return isLacking
  }

  /** Adds a value from QuestDB. A newer one stays. */
  merge(slot: number, series: number, timeUs: number, value: number): void {
    const known = this.#of(slot)
    const place = placeOf(known, series)
    if (timeUs <= (known.timesUs[place] as number)) return
    known.values[place] = value
    known.timesUs[place] = timeUs
  }

  forgetBefore(slot: number, timeUs: number): void {
    this.#forget(slot, known => known.timesUs.map(one => one >= timeUs))
  }

  forgetSeries(slot: number, erased: ReadonlySet<number>): void {
    this.#forget(slot, known => known.series.map(one => !erased.has(one)))
  }

  #forget(slot: number, keptOf: (known: Values) => readonly boolean[]): void {
    const known = this.#bySlot[slot]
    if (known === undefined) return
    const kept = keptOf(known)
    if (kept.every(Boolean)) return
    const part = (column: readonly number[]) => column.filter((_, place) => kept[place])
    this.#bySlot[slot] = { series: part(known.series), values: part(known.values), timesUs: part(known.timesUs) }
  }

  /** -Infinity for a series without a value. */
  timeUs(slot: number, series: number): number {
    const known = this.#bySlot[slot]
    return known?.timesUs[known.series.indexOf(series)] ?? Number.NEGATIVE_INFINITY
  }

  value(slot: number, series: number): number {
    const known = this.#bySlot[slot]
    return known?.values[known.series.indexOf(series)] ?? Number.NaN
  }

  #of(slot: number): Values {
    const known = this.#bySlot[slot] ?? { series: [], values: [], timesUs: [] }
    this.#bySlot[slot] = known
    return known
  }
}

function hasSeries(readings: StoredCustom, series: number): boolean {
  for (let index = 0; index < readings.customCount; index++) if (readings.customSeries(index) === series) return true
  return false
}

function placeOf(known: Values, series: number): number {
  const found = known.series.indexOf(series)
  if (found >= 0) return found
  // An erased value is removed later than the registry reuses its series, so it never has newer values.
  const place =
    known.series.length < seriesMax ? known.series.length : known.timesUs.indexOf(Math.min(...known.timesUs))
  known.series[place] = series
  known.values[place] = Number.NaN
  known.timesUs[place] = Number.NEGATIVE_INFINITY
  return place
}
