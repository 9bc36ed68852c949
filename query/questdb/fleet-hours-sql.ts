/** The SQL behind means of the whole fleet, made of its hours: those of the view, and those kept of expired readings. */

import { expiredHoursTable, hourlyView, type Metric } from '../../store/tables.ts'
import { whole } from './sql-literals.ts'

interface Stretch {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

interface Part extends Stretch {
  readonly table: string
}

/** So many stretches of the same length, oldest first, of which the last ends at `endUs`. */
export function stretchesUntil(endUs: number, lengthUs: number, count: number): Stretch[] {
  return Array.from({ length: count }, (_, place) => {
    const toUs = endUs - (count - 1 - place) * lengthUs
    return { fromUs: toUs - lengthUs, toUs }
  })
}

/** The tables that have the hours of a stretch. `expiredBeforeUs` as in `HourSources`. */
export function fleetParts({ fromUs, toUs }: Stretch, expiredBeforeUs: number): Part[] {
  const meetUs = Math.min(toUs, Math.max(fromUs, expiredBeforeUs))
  return [
    { table: expiredHoursTable, fromUs, toUs: meetUs },
    { table: hourlyView, fromUs: meetUs, toUs },
  ].filter(part => part.fromUs < part.toUs)
}

/** Rows of a device's symbol, and for each metric the sum and the number of its hourly means. */
export function fleetMeansSql(metrics: readonly Metric[], { table, fromUs, toUs }: Part): string {
  const sums = metrics.map(metric => `sum(${metric}_mean), count(${metric}_mean)`)
  const hasAny = metrics.map(metric => `${metric}_mean IS NOT NULL`).join(' OR ')
  const where = `ts >= ${whole(fromUs)} AND ts < ${whole(toUs)} AND (${hasAny})`
  return `SELECT device, ${sums.join(', ')} FROM ${table} WHERE ${where}`
}
