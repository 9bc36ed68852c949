/**
 * Means of the whole fleet by stretches that end at the last full hour. Each stretch and table takes one statement, so
 * that none groups more rows than the fleet has devices.
 */

import type { StandingRuns } from '../../analytics/fleet/standing-runs.ts'
import type { PgConnection, PgRow } from '../../store/questdb/client/questdb-pg.ts'
import {
  expiredHoursTable,
  expiredSeriesHoursTable,
  hourlyView,
  type Metric,
  readingsTable,
} from '../../store/tables.ts'
import type { InsightsEntry } from '../insights-fleet.ts'
import type { InsightsQuery } from '../queries.ts'
import type { HourSources } from '../questdb/hourly-sql.ts'
import { measurementValues, quoted, valuesFromSql, whole } from '../questdb/values-table.ts'
import type { UsRange } from '../task-context.ts'

export interface FleetReadsContext {
  readonly connection: Pick<PgConnection, 'read'>
  readonly signal: AbortSignal
}

interface Stretches {
  readonly count: number
  readonly lengthUs: number
}

/** Standing runs, fed with the extremes of each stretch, for each metric. */
type Runs = readonly StandingRuns[]

export interface FleetReads {
  /** Reads columns of the readings; row indexes follow the fleet. */
  columns(metrics: readonly Metric[], stretches: Stretches, runs?: Runs): Promise<MeansTable>
  /** Reads series; row indexes follow the list. */
  series(series: readonly number[], stretches: Stretches, runs?: StandingRuns): Promise<MeansTable>
}

const hourUs = 3_600_000_000

export function createFleetReads(
  { narrowed, nowUs, hourSources }: Pick<InsightsQuery, 'narrowed' | 'nowUs' | 'hourSources'>,
  fleet: readonly InsightsEntry[],
  { connection, signal }: FleetReadsContext,
): FleetReads {
  const places = new Map(fleet.map(({ symbol }, place) => [symbol, place]))
  const symbols = narrowed ? [...places.keys()] : undefined
  const endUs = Math.floor(nowUs / hourUs) * hourUs

  async function eachStretch(
    { count, lengthUs }: Stretches,
    textsOf: (range: UsRange) => string[],
    take: (row: PgRow, stretch: number) => void,
  ): Promise<void> {
    for (const [stretch, range] of stretchesUntil(endUs, lengthUs, count).entries()) {
      for (const text of textsOf(range)) {
        await connection.read({ text, values: [] }, signal, row => take(row, stretch))
      }
    }
  }

  return {
    async columns(metrics, stretches, runs) {
      const table = new MeansTable(fleet.length, stretches.count, metrics.length)
      if (fleet.length === 0) return table
      const width = runs === undefined ? 2 : 4
      const textsOf = (range: Parameters<typeof fleetParts>[0]) =>
        fleetParts(range, hourSources).map(part => fleetMeansSql(metrics, part, symbols, runs !== undefined))
      await eachStretch(stretches, textsOf, (row, stretch) => {
        const place = places.get(String(row[0]))
        // The device is off or removed.
        if (place === undefined) return
        for (let metric = 0; metric < metrics.length; metric++) {
          const from = 1 + width * metric
          const hours = Number(row[from + 1])
          table.add(place, stretch, metric, Number(row[from] ?? 0), hours)
          if (hours > 0) runs?.[metric]?.add(place, stretch, extremesOf(row, from + 2, hours))
        }
      })
      return table
    },
    async series(series, stretches, runs) {
      const table = new MeansTable(series.length, stretches.count, 1)
      const placeOf = new Map(series.map((number, place) => [number, place]))
      const textsOf = (range: Parameters<typeof fleetSeriesSql>[0]) => fleetSeriesSql(range, hourSources, series)
      await eachStretch(stretches, textsOf, (row, stretch) => {
        const place = placeOf.get(Number(row[0]))
        const hours = Number(row[2])
        if (place === undefined || hours === 0) return
        table.add(place, stretch, 0, Number(row[1]), hours)
        runs?.add(place, stretch, extremesOf(row, 3, hours))
      })
      return table
    },
  }
}

function extremesOf(row: PgRow, at: number, hours: number) {
  return { min: Number(row[at]), max: Number(row[at + 1]), hours }
}

/**
 * Selects for each series the sum and the number of its hourly means, and its extremes. The hours of a stretch are in
 * one or two tables, each with a statement of its own.
 */
function fleetSeriesSql(
  { fromUs, toUs }: UsRange,
  { expiredBeforeUs }: Pick<HourSources, 'expiredBeforeUs'>,
  series: readonly number[],
): string[] {
  if (series.length === 0) return []
  const rawFromUs = Math.min(toUs, Math.max(fromUs, expiredBeforeUs))
  const figures = 'series, sum(mean), count(mean), min(min), max(max)'
  const statements: string[] = []
  if (fromUs < rawFromUs) {
    const where = `ts >= ${whole(fromUs)} AND ts < ${whole(rawFromUs)} AND series IN (${series.map(whole).join(', ')})`
    statements.push(`SELECT ${figures} FROM ${expiredSeriesHoursTable} WHERE ${where} AND count IS NOT NULL`)
  }
  if (rawFromUs < toUs) {
    const values = valuesFromSql(measurementValues, { fromUs: rawFromUs, toUs, series })
    const hours = `SELECT ts, series, avg(value) mean, min(value) min, max(value) max FROM ${values} SAMPLE BY 1h ALIGN TO CALENDAR`
    statements.push(`SELECT ${figures} FROM (${hours})`)
  }
  return statements
}

/** Means by device, interval of time and metric, as sums and counts: ten bytes each. */
export class MeansTable {
  readonly #stretches: number
  readonly #metrics: number
  readonly #sums: Float64Array
  readonly #counts: Uint16Array

  constructor(devices: number, stretches: number, metrics: number) {
    this.#stretches = stretches
    this.#metrics = metrics
    this.#sums = new Float64Array(devices * stretches * metrics)
    this.#counts = new Uint16Array(devices * stretches * metrics)
  }

  add(device: number, stretch: number, metric: number, sum: number, count: number): void {
    const at = this.#place(device, stretch, metric)
    this.#sums[at] = (this.#sums[at] as number) + sum
    this.#counts[at] = (this.#counts[at] as number) + count
  }

  /** NaN without a value. */
  mean(device: number, stretch: number, metric: number): number {
    const at = this.#place(device, stretch, metric)
    return (this.#sums[at] as number) / (this.#counts[at] as number)
  }

  #place(device: number, stretch: number, metric: number): number {
    return (device * this.#stretches + stretch) * this.#metrics + metric
  }
}

interface Part extends UsRange {
  readonly table: string
}

/** `count` stretches of equal length, oldest first. The last one ends at `endUs`. */
export function stretchesUntil(endUs: number, lengthUs: number, count: number): UsRange[] {
  return Array.from({ length: count }, (_, place) => {
    const toUs = endUs - (count - 1 - place) * lengthUs
    return { fromUs: toUs - lengthUs, toUs }
  })
}

/** The tables that have the hours of a stretch. A stretch has whole hours. */
export function fleetParts({ fromUs, toUs }: UsRange, { expiredBeforeUs, rawFromUs }: HourSources): Part[] {
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
  /** Devices to read; undefined for all. */
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
