/** The condition on a site: how many of all devices are silent, whenever that changes. */

import { Deadlines } from '../../query/live/deadlines.ts'
import { stillFromMs } from '../core/flapping.ts'
import type { PairState } from '../core/pair.ts'
import type { AlertReadings } from '../core/readings.ts'
import type { RuleCore } from '../core/rule.ts'
import type { PreviewJob, Watch } from './preview-job.ts'
import type { PreviewedPair } from './previewed-pair.ts'
import { lastBeforeMs } from './silence-watch.ts'

export class SiteWatch implements Watch {
  readonly #job: PreviewJob
  readonly #pair: PreviewedPair
  /** The place of a device in the job, by its number. */
  readonly #places = new Map<number, number>()
  readonly #lastMs: Float64Array
  readonly #isSilent: Uint8Array
  readonly #isDue: Uint8Array
  /** Of devices that are not silent: not later than their deadlines, which readings move on. */
  readonly #deadlines = new Deadlines()
  #silent = 0
  /** When that has changed without being observed yet. */
  #changedMs = Number.NEGATIVE_INFINITY

  constructor(job: PreviewJob, pair: PreviewedPair) {
    const { length } = job.devices
    this.#job = job
    this.#pair = pair
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
    this.#observeChanges()
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
    if (nowMs > this.#changedMs) {
      this.#observeChanges()
      this.#passDurations(nowMs)
    }
    this.#isSilent[place] = isSilent
    this.#silent += isSilent === 1 ? 1 : -1
    this.#changedMs = nowMs
  }

  /** Of one moment, all together. */
  #observeChanges(): void {
    if (this.#changedMs === Number.NEGATIVE_INFINITY) return
    this.#observe(this.#changedMs)
    this.#changedMs = Number.NEGATIVE_INFINITY
  }

  /** A site whose devices stay as they are has waited for long enough at some time in between. */
  #passDurations(untilMs: number): void {
    for (;;) {
      const firstMs = this.#pair.nextMs(endsMs)
      if (!(firstMs < untilMs)) return
      this.#observe(firstMs)
    }
  }

  #observe(nowMs: number): void {
    this.#pair.take({ kind: 'site', nowMs, silent: this.#silent, devices: this.#job.devices.length })
  }
}

/** When time alone changes the alert of a site. */
function endsMs(
  { for_seconds, keep_firing_seconds }: RuleCore,
  { phase, sinceMs, flapping, changesMs }: PairState,
): number {
  if (phase === 'pending') return sinceMs + for_seconds * 1000
  const stillMs = flapping ? stillFromMs(changesMs) : Number.POSITIVE_INFINITY
  return phase === 'clearing' ? Math.min(stillMs, sinceMs + keep_firing_seconds * 1000) : stillMs
}
