/** The condition on suspect readings: how many of each full hour are, by the readings of the day up to its end. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import type { AlertReadings } from '../core/readings.ts'
import { SuspectScreen } from '../core/suspect-screen.ts'
import { type DeviceQuality, hourMs, type SuspectWindow, suspectShare, suspectWindowMs } from '../core/suspect-share.ts'
import type { PreviewJob, Watch } from './preview-job.ts'
import type { PreviewedPair } from './previewed-pair.ts'
import { RecentReadings } from './recent-readings.ts'

interface Watched {
  readonly pair: PreviewedPair
  readonly quality: DeviceQuality
  readonly readings: RecentReadings
  /** Of the last reading, since 1970; NaN before the first one. */
  hour: number
}

export class SuspectWatch implements Watch {
  readonly #devices = new Map<number, Watched>()
  readonly #toMs: number
  /** Of an hour before, not all readings are here that it is judged by. */
  readonly #firstEndMs: number

  constructor(job: PreviewJob, pairs: ReadonlyMap<number, PreviewedPair>) {
    this.#toMs = job.toMs
    this.#firstEndMs = job.readFromMs + suspectWindowMs
    for (const { number, quality } of job.devices) {
      const pair = pairs.get(number)
      if (pair === undefined || quality === undefined) continue
      const readings = new RecentReadings(quality.limits.length)
      this.#devices.set(number, { pair, quality, readings, hour: Number.NaN })
    }
  }

  take({ device, timesUs, values, length }: AlertReadings): void {
    for (let row = 0; row < length; row++) {
      const watched = this.#devices.get(device[row] as number)
      if (watched === undefined) continue
      const timeMs = (timesUs[row] as number) / 1000
      const hour = Math.floor(timeMs / hourMs)
      if (Number.isNaN(watched.hour)) watched.hour = hour
      if (hour > watched.hour) this.#moveOn(watched, hour)
      watched.readings.add(timeMs, values, row)
    }
  }

  end(): void {
    const hour = Math.floor(this.#toMs / hourMs)
    for (const watched of this.#devices.values()) if (!Number.isNaN(watched.hour)) this.#moveOn(watched, hour)
  }

  /** The hours up to this one are full; those in between have no readings. */
  #moveOn(watched: Watched, hour: number): void {
    while (watched.hour < hour) {
      const endMs = (watched.hour + 1) * hourMs
      const window = watched.readings.since(endMs - suspectWindowMs)
      if (endMs >= this.#firstEndMs) {
        const share = shareOfHour(window, endMs - hourMs, watched.quality)
        watched.pair.take({ kind: 'hour', hourMs: endMs, share })
      }
      watched.hour++
    }
  }
}

/** Of the last hour of a window. */
function shareOfHour(window: SuspectWindow, hourBeginMs: number, quality: DeviceQuality): number {
  const { timesMs, values } = window
  const screen = new SuspectScreen(hourBeginMs, 1, values.length)
  for (let row = lowerBound(timesMs, screen.fromMs); row < timesMs.length; row++) {
    for (let metric = 0; metric < values.length; metric++) {
      screen.take(0, metric, timesMs[row] as number, values[metric]?.[row] as number)
    }
  }
  const metrics = quality.limits.map((_, metric) => metric)
  return screen.share(0, metrics, quality) ?? suspectShare(window, hourBeginMs, quality)
}
