/** Rows of numbers that a worker hands to the main thread for the state of the fleet, in the bytes of one buffer. */

import { metrics } from '../../store/tables.ts'
import type { AvailabilityLog, Pool } from '../pool.ts'
import type { FleetQueries, Queries } from '../queries.ts'
import { type Replicas, runOnReplica } from '../replicas.ts'
import { airMetrics } from '../series.ts'

/** The columns of a device's last reading, in this order. Then the values by metric, then their times in microseconds. */
export const lastRow = { number: 0, timeUs: 1, values: 2, valuesUs: 2 + metrics.length, width: 2 + 2 * metrics.length }

/** The columns of the last value of a series. */
export const customRow = { series: 0, timeUs: 1, value: 2, width: 3 }

/** The columns of an hour of a device. Then the number of values and the mean of each metric of the air. */
export const hourRow = {
  number: 0,
  count: 1,
  counts: 2,
  means: 2 + airMetrics.length,
  width: 2 + 2 * airMetrics.length,
}

/** Kinds of a cadence, by their number in a row. */
export const cadenceKinds = ['unknown', 'regular', 'irregular'] as const

/** Number of hours of a device in the live state, the present one last. */
export const deviceHours = 25
/**
 * Columns of a device that was looked up by itself: its last reading, its cadence, the first exact hour and the hourly
 * counts. Then follow an index into `airMetrics` and the hourly counts and means of that metric.
 */
export const deviceRow = {
  kind: lastRow.width,
  expectedMs: lastRow.width + 1,
  gapMs: lastRow.width + 2,
  /** Hours since 1970. */
  firstHour: lastRow.width + 3,
  exactFromHour: lastRow.width + 4,
  counts: lastRow.width + 5,
  meanMetric: lastRow.width + 5 + deviceHours,
  meanCounts: lastRow.width + 6 + deviceHours,
  means: lastRow.width + 6 + 2 * deviceHours,
  width: lastRow.width + 6 + 3 * deviceHours,
}

/** The buffer is transferred, like a body's. */
export interface PackedRows {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzip: undefined
  readonly hash: ''
}

function packRows(numbers: Float64Array<ArrayBuffer>): PackedRows {
  return { bytes: new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), gzip: undefined, hash: '' }
}

function unpackRows(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8)
}

export class RowList {
  readonly #width: number
  #numbers: Float64Array<ArrayBuffer>
  #count = 0

  constructor(width: number) {
    this.#width = width
    this.#numbers = new Float64Array(1024 * width)
  }

  /** Returns the index of a new row's first column. The row is filled with NaN. */
  add(): number {
    const at = this.#count++ * this.#width
    if (at + this.#width > this.#numbers.length) {
      const grown = new Float64Array(2 * this.#numbers.length)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers.fill(Number.NaN, at, at + this.#width)
    return at
  }

  numbers(): Float64Array<ArrayBuffer> {
    return this.#numbers
  }

  packed(): PackedRows {
    return packRows(this.#numbers.slice(0, this.#count * this.#width))
  }
}

type FleetRows = { readonly ok: true; readonly rows: Float64Array } | { readonly ok: false; readonly code: string }

export type AskFleetRows = <Name extends keyof FleetQueries>(
  name: Name,
  query: FleetQueries[Name],
  signal: AbortSignal,
) => Promise<FleetRows>

interface FleetRowsOptions {
  readonly pool: Pool<Queries>
  readonly replicas: Replicas
  readonly logAvailability: AvailabilityLog
}

/** Asks a worker for rows of the fleet. */
export function createFleetRows({ pool, replicas, logAvailability }: FleetRowsOptions): AskFleetRows {
  return async (name, query, signal) => {
    const result = await runOnReplica(
      { pool, replicas },
      name,
      hourSources => ({ ...query, hourSources }) as unknown as Queries[typeof name],
      signal,
    )
    logAvailability(result)
    if (!result.ok) return { ok: false, code: result.code }
    if (!('bytes' in result.encoded)) throw new Error('unpacked rows of the fleet')
    return { ok: true, rows: unpackRows(result.encoded.bytes) }
  }
}
