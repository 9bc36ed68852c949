/** The condition on unusual values: by the hours of four weeks before and of the range, each judged by those before it. */

import { bridgedHours } from '../../analytics/time/fill-gaps.ts'
import { hoursOfDay, hoursOfWeek } from '../../analytics/time/hour-of-week.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { unusualOf, unusualShift } from '../../analytics/unusual/unusual.ts'
import type { AlertReadings } from '../core/readings.ts'
import type { PreviewJob, Watch } from './preview-job.ts'
import type { PreviewedPair } from './previewed-pair.ts'

const hourMs = 3_600_000
/** The history before the first hour of the range. */
export const unusualHistoryMs = 28 * 24 * hourMs

interface Hours {
  readonly sums: Float64Array
  readonly counts: Uint32Array
}

export class UnusualWatch implements Watch {
  readonly #job: PreviewJob
  readonly #pairs: ReadonlyMap<number, PreviewedPair>
  readonly #hours: number
  readonly #devices = new Map<number, Hours>()

  constructor(job: PreviewJob, pairs: ReadonlyMap<number, PreviewedPair>) {
    this.#job = job
    this.#pairs = pairs
    this.#hours = Math.floor((job.toMs - job.readFromMs) / hourMs)
  }

  take({ device, timesUs, values, length }: AlertReadings): void {
    const column = values[0] as Float64Array
    for (let row = 0; row < length; row++) {
      const value = column[row] as number
      const hour = Math.floor(((timesUs[row] as number) / 1000 - this.#job.readFromMs) / hourMs)
      if (Number.isNaN(value) || hour < 0 || hour >= this.#hours) continue
      const known = this.#devices.get(device[row] as number) ?? {
        sums: new Float64Array(this.#hours),
        counts: new Uint32Array(this.#hours),
      }
      this.#devices.set(device[row] as number, known)
      known.sums[hour] = (known.sums[hour] as number) + value
      known.counts[hour] = (known.counts[hour] as number) + 1
    }
  }

  end(): void {
    const { readFromMs, timeZone } = this.#job
    const starts = Float64Array.from({ length: this.#hours }, (_, hour) => readFromMs + hour * hourMs)
    const localHours = hoursOfDay(hoursOfWeek(starts, createLocalTime(timeZone)))
    for (const [number, { sums, counts }] of this.#devices) {
      const hourly = bridgedHours(sums.map((sum, hour) => sum / (counts[hour] as number)))
      const { episodes } = unusualOf({ hourly, localHours, quantum: 0 })
      for (let hour = 0; hour < this.#hours; hour++) {
        const shift = Number.isNaN(hourly[hour]) ? Number.NaN : unusualShift(episodes, hour)
        this.#pairs.get(number)?.take({ kind: 'unusual', hourMs: readFromMs + (hour + 1) * hourMs, shift })
      }
    }
  }
}
