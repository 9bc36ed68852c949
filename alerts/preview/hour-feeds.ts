/** Feeds a preview with observations of full hours, computed from the stored readings. The service has feeds of its own. */

import { lowerBound } from '../../analytics/lower-bound.ts'
import { bridgedHours } from '../../analytics/time/fill-gaps.ts'
import { hoursOfDay, hoursOfWeek } from '../../analytics/time/local-days.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { unusualOf, unusualShift } from '../../analytics/unusual/unusual.ts'
import type { AlertReadings } from '../../query/alerts/alert-queries.ts'
import type { Observation } from '../core/pair.ts'
import {
  type DeviceQuality,
  hourMs,
  SuspectScreen,
  type SuspectWindow,
  suspectShare,
  suspectWindowMs,
} from '../core/suspect-share.ts'
import type { JobDevice, PreviewJob } from './preview-job.ts'

export interface HourFeed {
  /** Readings come in the order of time. */
  take(readings: AlertReadings): void
  /** All readings were taken. */
  end(): void
}

type Observe = (device: number, observation: Observation) => void

/** Undefined for conditions on readings and on silence, which the evaluation takes as they come. */
export function hourFeedOf(job: PreviewJob, observe: Observe): HourFeed | undefined {
  switch (job.rule.condition.kind) {
    case 'completeness':
      return new HourShares(job, observe, hourMs, completeness)
    case 'suspect':
      return new HourShares(job, observe, suspectWindowMs, suspectOfHour)
    case 'unusual':
      return new UnusualHours(job, observe)
    default:
      return undefined
  }
}

/** Judges the last hour of a window. */
type ShareOf = (window: SuspectWindow, hourBeginMs: number, device: JobDevice) => number

interface HourDevice extends JobDevice {
  readonly readings: RecentReadings
  /** Hour of the last reading, counted from 1970. NaN before the first one. */
  hour: number
  /** End of the first hour whose window has all readings. */
  firstEndMs: number
}

class HourShares implements HourFeed {
  readonly #job: PreviewJob
  readonly #observe: Observe
  readonly #windowMs: number
  readonly #shareOf: ShareOf
  readonly #devices: ReadonlyMap<number, HourDevice>

  constructor(job: PreviewJob, observe: Observe, windowMs: number, shareOf: ShareOf) {
    this.#job = job
    this.#observe = observe
    this.#windowMs = windowMs
    this.#shareOf = shareOf
    const isJudged = ({ expectedMs, quality }: JobDevice) =>
      job.rule.condition.kind === 'completeness' ? !Number.isNaN(expectedMs) : quality !== undefined
    this.#devices = new Map(
      job.devices.filter(isJudged).map(device => {
        const readings = new RecentReadings(device.quality?.limits.length ?? 0)
        return [device.number, { ...device, readings, hour: Number.NaN, firstEndMs: job.readFromMs + windowMs }]
      }),
    )
  }

  take({ device: numbers, timesUs, values, length }: AlertReadings): void {
    for (let row = 0; row < length; row++) {
      const device = this.#devices.get(numbers[row] as number)
      if (device === undefined) continue
      const timeMs = (timesUs[row] as number) / 1000
      const hour = Math.floor(timeMs / hourMs)
      if (Number.isNaN(device.hour)) this.#begin(device, hour)
      this.#passHours(device, hour)
      device.readings.add(timeMs, values, row)
    }
  }

  /** A rule on completeness does not count the hour in which a new device begins as a full one. */
  #begin(device: HourDevice, hour: number): void {
    device.hour = hour
    const isNew = hour * hourMs > this.#job.readFromMs && device.quality === undefined
    if (isNew) device.firstEndMs = (hour + 2) * hourMs
  }

  end(): void {
    const hour = Math.floor(this.#job.toMs / hourMs)
    for (const device of this.#devices.values()) if (!Number.isNaN(device.hour)) this.#passHours(device, hour)
  }

  /** Hours without a reading count, too. */
  #passHours(device: HourDevice, hour: number): void {
    while (device.hour < hour) {
      device.hour++
      const endMs = device.hour * hourMs
      const window = device.readings.since(endMs - this.#windowMs)
      if (endMs < device.firstEndMs) continue
      const share = this.#shareOf(window, endMs - hourMs, device)
      this.#observe(device.number, { kind: 'hour', hourMs: endMs, share })
    }
  }
}

function completeness({ timesMs }: SuspectWindow, _: number, { expectedMs }: JobDevice): number {
  return (timesMs.length * expectedMs) / hourMs
}

function suspectOfHour(window: SuspectWindow, hourBeginMs: number, device: JobDevice): number {
  const { timesMs, values } = window
  const quality = device.quality as DeviceQuality
  const screen = new SuspectScreen(hourBeginMs, 1, values.length)
  for (let row = lowerBound(timesMs, screen.fromMs); row < timesMs.length; row++) {
    for (let metric = 0; metric < values.length; metric++) {
      screen.take(0, metric, timesMs[row] as number, values[metric]?.[row] as number)
    }
  }
  const metrics = quality.limits.map((_, metric) => metric)
  return screen.share(0, metrics, quality) ?? suspectShare(window, hourBeginMs, quality)
}

const lengthMin = 64

/** The readings of one device of the last hours: columns that grow at the end and are cut at the begin. */
class RecentReadings {
  #timesMs = new Float64Array(lengthMin)
  #values: Float64Array<ArrayBuffer>[]
  #from = 0
  #end = 0

  constructor(columns: number) {
    this.#values = Array.from({ length: columns }, () => new Float64Array(lengthMin))
  }

  /** The time is not before the last one. */
  add(timeMs: number, values: readonly Float64Array[], row: number): void {
    if (this.#end === this.#timesMs.length) this.#makeRoom()
    this.#timesMs[this.#end] = timeMs
    for (const [index, column] of this.#values.entries()) column[this.#end] = values[index]?.[row] ?? Number.NaN
    this.#end++
  }

  /** Older readings are dropped. The window is valid until the next reading is added. */
  since(fromMs: number): SuspectWindow {
    this.#from += lowerBound(this.#timesMs.subarray(this.#from, this.#end), fromMs)
    const present = (column: Float64Array) => column.subarray(this.#from, this.#end)
    return { timesMs: present(this.#timesMs), values: this.#values.map(present) }
  }

  #makeRoom(): void {
    const length = Math.max(lengthMin, 2 * (this.#end - this.#from))
    const moved = (before: Float64Array) => {
      const after = new Float64Array(length)
      after.set(before.subarray(this.#from, this.#end))
      return after
    }
    this.#timesMs = moved(this.#timesMs)
    this.#values = this.#values.map(moved)
    this.#end -= this.#from
    this.#from = 0
  }
}

/** The history before the first hour of the range. */
export const unusualHistoryMs = 28 * 24 * hourMs

/** Each hour is judged by the hours before it, of four weeks and of the range. */
class UnusualHours implements HourFeed {
  readonly #job: PreviewJob
  readonly #observe: Observe
  readonly #hours: number
  readonly #devices = new Map<number, { readonly sums: Float64Array; readonly counts: Uint32Array }>()

  constructor(job: PreviewJob, observe: Observe) {
    this.#job = job
    this.#observe = observe
    this.#hours = Math.floor((job.toMs - job.readFromMs) / hourMs)
  }

  take({ device, timesUs, values, length }: AlertReadings): void {
    const column = values[0] as Float64Array
    for (let row = 0; row < length; row++) {
      const value = column[row] as number
      const hour = Math.floor(((timesUs[row] as number) / 1000 - this.#job.readFromMs) / hourMs)
      if (Number.isNaN(value) || hour < 0 || hour >= this.#hours) continue
      const { sums, counts } = this.#of(device[row] as number)
      sums[hour] = (sums[hour] as number) + value
      counts[hour] = (counts[hour] as number) + 1
    }
  }

  #of(device: number) {
    const known = this.#devices.get(device)
    if (known !== undefined) return known
    const added = { sums: new Float64Array(this.#hours), counts: new Uint32Array(this.#hours) }
    this.#devices.set(device, added)
    return added
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
        this.#observe(number, { kind: 'unusual', hourMs: readFromMs + (hour + 1) * hourMs, shift })
      }
    }
  }
}
