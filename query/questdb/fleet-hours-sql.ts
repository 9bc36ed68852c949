/**
 * The SQL for means of the whole fleet from its hours: kept hours of expired readings, the view's hours, and hours of
 * raw readings.
 */

import { expiredHoursTable, hourlyView, type Metric, readingsTable } from '../../store/tables.ts'
import type { HourSources } from './hourly-sql.ts'
import { quoted, whole } from './sql-literals.ts'

const hourUs = 3_600_000_000

interface Stretch {
  readonly fromUs: number
  /** Not included. */
  readonly toUs: number
}

interface Part extends Stretch {
  readonly table: string
}

/** `count` stretches of equal length, oldest first. The last one ends at `endUs`. */
export function stretchesUntil(endUs: number, lengthUs: number, count: number): Stretch[] {
  return Array.from({ length: count }, (_, place) => {
    const toUs = endUs - (count - 1 - place) * lengthUs
    return { fromUs: toUs - lengthUs, toUs }
  })
}

/** The tables that have the hours of a stretch. A stretch has whole hours. */
export function fleetParts({ fromUs, toUs }: Stretch, { expiredBeforeUs, rawFromUs }: HourSources): Part[] {
  const within = (timeUs: number, from: number) => Math.min(toUs, Math.max(from, timeUs))
  const viewFromUs = within(expiredBeforeUs, fromUs)
  const viewToUs = within(Math.floor(rawFromUs / hourUs) * hourUs, viewFromUs)
  return [
    { table: expiredHoursTable, fromUs, toUs: viewFromUs },
    { table: hourlyView, fromUs: viewFromUs, toUs: viewToUs },
    { table: readingsTable, fromUs: viewToUs, toUs },
  ].filter(part => part.fromUs < part.toUs)
}

/**
 * Rows with a device's symbol, and for each metric the sum and the number of its hourly means, and its extremes if
 * requested.
 */
export function fleetMeansSql(
  metrics: readonly Metric[],
  { table, fromUs, toUs }: Part,
  /** Only these devices; undefined for all. */
  symbols?: readonly string[],
  withExtremes = false,
): string {
  const only = symbols === undefined ? '' : ` AND device IN (${symbols.map(quoted).join(', ')})`
  const range = `ts >= ${whole(fromUs)} AND ts < ${whole(toUs)}${only}`
  const sums = metrics.map(metric => {
    const extremes = withExtremes ? `, min(${metric}_min), max(${metric}_max)` : ''
    return `sum(${metric}_mean), count(${metric}_mean)${extremes}`
  })
  if (table === readingsTable) {
    const means = metrics.map(metric => {
      const extremes = withExtremes ? `, min(${metric}) ${metric}_min, max(${metric}) ${metric}_max` : ''
      return `avg(${metric}) ${metric}_mean${extremes}`
    })
    const hours = `SELECT ts, device, ${means.join(', ')} FROM ${readingsTable} WHERE ${range} SAMPLE BY 1h ALIGN TO CALENDAR`
    return `SELECT device, ${sums.join(', ')} FROM (${hours})`
  }
  const hasAny = metrics.map(metric => `${metric}_mean IS NOT NULL`).join(' OR ')
  return `SELECT device, ${sums.join(', ')} FROM ${table} WHERE ${range} AND (${hasAny})`
}
