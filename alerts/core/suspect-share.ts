/**
 * Share of suspect readings in an hour, by the rules of the analyses. An hour is judged by the 24 hours up to its end, which show
 * the sensor's usual behaviour.
 */

import { lowerBound } from '../../analytics/lower-bound.ts'
import { flagMissing, flagSuspect, judgeReadings } from '../../analytics/quality/quality.ts'
import type { QualityLimits } from '../../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { metrics } from '../../store/tables.ts'
import type { Condition } from './condition.ts'

export const hourMs = 3_600_000
export const suspectWindowMs = 24 * hourMs

/** Readings of one device, at ascending times. */
export interface SuspectWindow {
  readonly timesMs: Float64Array
  /** By metric; NaN where missing. */
  readonly values: readonly Float64Array[]
}

/** The criteria for suspect readings of a device. */
export interface DeviceQuality {
  /** Its interval as configured; null: by its readings. */
  readonly expectedMs: number | null
  /** By metric. */
  readonly limits: readonly QualityLimits[]
}

/** By whose readings a device is judged: without a metric, by those that are built in. */
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
