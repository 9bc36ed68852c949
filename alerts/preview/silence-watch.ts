/** The condition on silence: readings and the deadlines between them, by the present intervals of the devices. */

import type { AlertReadings } from '../core/readings.ts'
import { nextLookMs } from '../engine/silence-deadlines.ts'
import type { JobDevice, PreviewJob, Watch } from './preview-job.ts'
import type { PreviewedPair } from './previewed-pair.ts'

/** The last reading before the first that is read, where that is known: none came since. NaN otherwise. */
export function lastBeforeMs({ lastMs }: JobDevice, { readFromMs }: Pick<PreviewJob, 'readFromMs'>): number {
  return lastMs < readFromMs ? lastMs : Number.NaN
}

const halfMicrosecondMs = 0.0005

interface Heard {
  readonly pair: PreviewedPair
  readonly afterMs: number
  lastMs: number
}

export class SilenceWatch implements Watch {
  readonly #toMs: number
  readonly #devices = new Map<number, Heard>()

  constructor(job: PreviewJob, pairs: ReadonlyMap<number, PreviewedPair>) {
    this.#toMs = job.toMs
    for (const device of job.devices) {
      const pair = pairs.get(device.number)
      if (pair === undefined) continue
      this.#devices.set(device.number, { pair, afterMs: device.afterMs, lastMs: lastBeforeMs(device, job) })
    }
  }

  take({ device, timesUs, length }: AlertReadings): void {
    for (let row = 0; row < length; row++) {
      const heard = this.#devices.get(device[row] as number)
      if (heard === undefined) continue
      const timeUs = timesUs[row] as number
      const receiptMs = timeUs / 1000
      // A reading at the very moment of a deadline is in time.
      passTime(heard, receiptMs - halfMicrosecondMs)
      if (!heard.pair.isIdle) heard.pair.take({ kind: 'reading', timeUs, receiptMs, value: Number.NaN })
      heard.lastMs = receiptMs
    }
  }

  end(): void {
    for (const heard of this.#devices.values()) passTime(heard, this.#toMs)
  }
}

/** All that time alone has changed up to now, when it did; of a device that was never heard that is nothing. */
function passTime({ pair, afterMs, lastMs }: Heard, nowMs: number): void {
  const dueMs = lastMs + afterMs
  if (!(dueMs <= nowMs)) return
  for (let beforeMs = Number.NEGATIVE_INFINITY; ; ) {
    const lookMs = pair.nextMs((rule, state) => nextLookMs(rule, state, dueMs))
    if (lookMs <= beforeMs || lookMs > nowMs) return
    pair.take({ kind: 'tick', nowMs: lookMs, lastMs, dueMs })
    beforeMs = lookMs
  }
}
