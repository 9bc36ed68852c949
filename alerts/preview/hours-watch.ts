/** The condition on completeness: how many readings each full hour has of those that are expected. */

import type { AlertReadings } from '../core/readings.ts'
import type { PreviewJob, Watch } from './preview-job.ts'
import type { PreviewedPair } from './previewed-pair.ts'

const hourMs = 3_600_000

interface Counted {
  readonly pair: PreviewedPair
  readonly expectedMs: number
  /** Since 1970; NaN before the first reading. */
  hour: number
  count: number
  /** Of a device that is new in its first hour, that hour is not a full one. */
  isFull: boolean
}

export class HoursWatch implements Watch {
  readonly #job: PreviewJob
  readonly #devices = new Map<number, Counted>()

  constructor(job: PreviewJob, pairs: ReadonlyMap<number, PreviewedPair>) {
    this.#job = job
    for (const { number, expectedMs } of job.devices) {
      const pair = pairs.get(number)
      if (pair === undefined || Number.isNaN(expectedMs)) continue
      this.#devices.set(number, { pair, expectedMs, hour: Number.NaN, count: 0, isFull: false })
    }
  }

  take({ device, timesUs, length }: AlertReadings): void {
    const firstHour = this.#job.readFromMs / hourMs
    for (let row = 0; row < length; row++) {
      const counted = this.#devices.get(device[row] as number)
      if (counted === undefined) continue
      const hour = Math.floor((timesUs[row] as number) / 1000 / hourMs)
      if (Number.isNaN(counted.hour)) {
        counted.hour = hour
        counted.isFull = hour === firstHour
      }
      moveOn(counted, hour)
      counted.count++
    }
  }

  end(): void {
    const presentHour = Math.floor(this.#job.toMs / hourMs)
    for (const counted of this.#devices.values()) if (!Number.isNaN(counted.hour)) moveOn(counted, presentHour)
  }
}

/** The hours up to this one are full; those in between are empty. */
function moveOn(counted: Counted, hour: number): void {
  while (counted.hour < hour) {
    const share = (counted.count * counted.expectedMs) / hourMs
    counted.hour++
    if (counted.isFull) counted.pair.take({ kind: 'hour', hourMs: counted.hour * hourMs, share })
    counted.count = 0
    counted.isFull = true
  }
}
