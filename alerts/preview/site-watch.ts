/** The condition on a site: how many of all devices are silent, whenever that changes. */

import { Deadlines } from '../../live/deadlines.ts'
import type { AlertReadings } from '../core/readings.ts'
import type { PreviewJob, Watch } from './preview-job.ts'
import type { PreviewedPair, RuleVariants } from './previewed-pair.ts'
import { lastBeforeMs } from './silence-watch.ts'

export class SiteWatch implements Watch {
  readonly #job: PreviewJob
  readonly #pair: PreviewedPair
  readonly #rules: RuleVariants
  /** The place of a device in the job, by its number. */
  readonly #places = new Map<number, number>()
  readonly #lastMs: Float64Array
  readonly #isSilent: Uint8Array
  readonly #isDue: Uint8Array
  /** Of devices that are not silent: not later than their deadlines, which readings move on. */
  readonly #deadlines = new Deadlines()
  #silent = 0

  constructor(job: PreviewJob, pair: PreviewedPair, rules: RuleVariants) {
    const { length } = job.devices
    this.#job = job
    this.#pair = pair
    this.#rules = rules
    this.#lastMs = Float64Array.from(job.devices, device => lastBeforeMs(device, job))
    this.#isSilent = new Uint8Array(length)
    this.#isDue = new Uint8Array(length)
    for (const [place, { number }] of job.devices.entries()) {
      this.#places.set(number, place)
      if (!Number.isNaN(this.#lastMs[place])) this.#await(place)
    }
  }

  take({ device, timesUs, length }: AlertReadings): void {
    for (let row = 0; row < length; row++) {
      const place = this.#places.get(device[row] as number)
      if (place === undefined) continue
      const nowMs = (timesUs[row] as number) / 1000
      this.#passDeadlines(nowMs)
      this.#lastMs[place] = nowMs
      if (this.#isSilent[place] === 1) this.#tell(nowMs, place, 0)
      if (this.#isDue[place] === 0) this.#await(place)
    }
  }

  end(): void {
    const { toMs } = this.#job
    this.#passDeadlines(toMs)
    this.#passDurations(toMs)
  }

  #dueMs(place: number): number {
    return (this.#lastMs[place] as number) + (this.#job.devices[place]?.afterMs as number)
  }

  #await(place: number): void {
    this.#deadlines.set(place, this.#dueMs(place))
    this.#isDue[place] = 1
  }

  #passDeadlines(untilMs: number): void {
    for (;;) {
      const nextMs = this.#deadlines.nextMs()
      if (!(nextMs < untilMs)) return
      const place = this.#deadlines.nextSlot()
      const dueMs = this.#dueMs(place)
      if (dueMs > nextMs) {
        this.#deadlines.set(place, dueMs)
        continue
      }
      this.#deadlines.set(place, Number.POSITIVE_INFINITY)
      this.#isDue[place] = 0
      this.#tell(dueMs, place, 1)
    }
  }

  #tell(nowMs: number, place: number, isSilent: 0 | 1): void {
    this.#passDurations(nowMs)
    this.#isSilent[place] = isSilent
    this.#silent += isSilent === 1 ? 1 : -1
    this.#observe(nowMs)
  }

  /** A site whose devices stay as they are has waited for long enough at some time in between. */
  #passDurations(untilMs: number): void {
    for (;;) {
      const endsMs = this.#pair.states.map(({ phase, sinceMs }, at) => {
        const { for_seconds = 0, keep_firing_seconds = 0 } = this.#rules[at] ?? {}
        if (phase === 'pending') return sinceMs + for_seconds * 1000
        return phase === 'clearing' ? sinceMs + keep_firing_seconds * 1000 : Number.POSITIVE_INFINITY
      })
      const firstMs = Math.min(...endsMs)
      if (!(firstMs < untilMs)) return
      this.#observe(firstMs)
    }
  }

  #observe(nowMs: number): void {
    this.#pair.take({ kind: 'site', nowMs, silent: this.#silent, devices: this.#job.devices.length })
  }
}
