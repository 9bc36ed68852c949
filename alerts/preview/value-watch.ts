/** Conditions on values: each value of a reading is an observation. */

import type { Observation } from '../core/observation.ts'
import type { AlertReadings } from '../core/readings.ts'
import type { Watch } from './preview-job.ts'
import type { PreviewedPair } from './previewed-pair.ts'

export class ValueWatch implements Watch {
  readonly #pairs: ReadonlyMap<number, PreviewedPair>

  constructor(pairs: ReadonlyMap<number, PreviewedPair>) {
    this.#pairs = pairs
  }

  take({ device, timesUs, values: [values], length }: AlertReadings): void {
    if (values === undefined) return
    for (let row = 0; row < length; row++) {
      const pair = this.#pairs.get(device[row] as number)
      const value = values[row] as number
      // Without a value, time goes on for a pair that has changed too often.
      if (pair === undefined || (Number.isNaN(value) && pair.isIdle)) continue
      const timeUs = timesUs[row] as number
      // When it was received is not stored: as soon as it was measured.
      const observation: Observation = { kind: 'reading', timeUs, receiptMs: timeUs / 1000, value }
      pair.take(observation)
    }
  }

  end(): void {}
}
