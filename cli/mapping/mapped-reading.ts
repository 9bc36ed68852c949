/** A reading of a foreign file, in the units of the table. */

import { metrics } from '../../store/tables.ts'

export interface MappedReading {
  readonly device: string
  /** Epoch microseconds. */
  readonly timeUs: number
  /** By metric, in the order of the table; NaN for a missing one. */
  readonly values: Float64Array
}

/** As a line of NDJSON, for the service. */
export function lineOf({ device, timeUs, values }: MappedReading): string {
  const fields = metrics.map((metric, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? null : ([metric, value] as const)
  })
  const [temperature, humidity, pressure, ...battery] = fields
  // The first three have to be there, if only as null.
  const required = {
    temperature: temperature?.[1] ?? null,
    humidity: humidity?.[1] ?? null,
    pressure: pressure?.[1] ?? null,
  }
  const others = Object.fromEntries(battery.filter(field => field !== null))
  return `${JSON.stringify({ timestamp: timeUs / 1000, device, ...required, ...others })}\n`
}
