/** Sums of a device's values by the hour, for the means of the hours that the live state tells. */

import { type AirMetric, airMetrics } from './units.ts'

export class HourSums {
  readonly #fromHour: number
  readonly #hours: number
  readonly #counts: Float64Array
  readonly #sums: Float64Array

  constructor(fromHour: number, hours: number) {
    this.#fromHour = fromHour
    this.#hours = hours
    this.#counts = new Float64Array(hours * airMetrics.length)
    this.#sums = new Float64Array(hours * airMetrics.length)
  }

  /** A value of an hour that is not told is passed over. */
  add(metric: AirMetric, hour: number, value: number, count = 1): void {
    const place = hour - this.#fromHour
    if (place < 0 || place >= this.#hours) return
    const at = this.#placeOf(metric, place)
    ;(this.#counts[at] as number) += count
    ;(this.#sums[at] as number) += value * count
  }

  /** What it had so far of the hours before this one. */
  clearBefore(hour: number): void {
    for (const metric of airMetrics) {
      const from = this.#placeOf(metric, 0)
      this.#counts.fill(0, from, from + hour - this.#fromHour)
      this.#sums.fill(0, from, from + hour - this.#fromHour)
    }
  }

  countOf(metric: AirMetric, hour: number): number {
    return this.#counts[this.#placeOf(metric, hour - this.#fromHour)] as number
  }

  /** NaN without a value. */
  meanOf(metric: AirMetric, hour: number): number {
    return (this.#sums[this.#placeOf(metric, hour - this.#fromHour)] as number) / this.countOf(metric, hour)
  }

  #placeOf(metric: AirMetric, place: number): number {
    return airMetrics.indexOf(metric) * this.#hours + place
  }
}
