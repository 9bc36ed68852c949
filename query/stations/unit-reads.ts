/**
 * Finds the units of a station's points. A station has a series for each parameter of the interface, measured or not.
 * So the search for the newest point has a lower bound: for an unused series, it would scan all points of all stations.
 */

import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { pointsTable } from '../../store/tables.ts'
import type { StationUnitsQuery } from '../queries.ts'
import { type ValuesTable, whole } from '../questdb/values-table.ts'
import type { StationUnits } from '../shapes/station.ts'
import type { UsRange } from '../task-context.ts'
import { leftOutOf, type PointUnit, pointUnitOf, pointValues, seriesSql, type UnitCounts } from './point-units.ts'

type Connection = Pick<PgConnection, 'read'>

interface SeenUnits {
  readonly counts: UnitCounts
  /** Unit of the newest point. */
  readonly unit: PointUnit
  readonly newestUs: number
}

export interface KnownUnits {
  /**
   * The displayed unit of each series: the unit of its newest point, within the days before the newest point of all or
   * within a counted range.
   */
  readonly shown: ReadonlyMap<number, PointUnit>
  /** The points in these units, as known at the time of the read. */
  readonly table: ValuesTable
  /** Indexed by series. */
  countIn(ranges: readonly UsRange[]): Promise<ReadonlyMap<number, UnitCounts>>
}

/** A month's answer looks back this far, with one more day. */
const lookbackUs = 31 * 86_400_000_000

export async function readStationUnits(
  connection: Connection,
  series: readonly number[],
  signal: AbortSignal,
): Promise<KnownUnits> {
  const shown = new Map<number, PointUnit>()
  let table = pointValues(shown)

  async function look(ranges: readonly UsRange[]): Promise<ReadonlyMap<number, UnitCounts>> {
    const seen = await readUnits(connection, series, ranges, signal)
    for (const [number, { unit }] of seen) if (!shown.has(number)) shown.set(number, unit)
    table = pointValues(shown)
    return new Map(Array.from(seen, ([number, { counts }]) => [number, counts]))
  }

  const newestUs = await readNewestUs(connection, series, signal)
  if (newestUs !== undefined) await look([{ fromUs: newestUs - lookbackUs, toUs: newestUs + 1 }])
  return {
    shown,
    table: {
      name: pointsTable,
      get value() {
        return table.value
      },
      get isThere() {
        return table.isThere
      },
    },
    countIn: look,
  }
}

async function readNewestUs(
  connection: Connection,
  series: readonly number[],
  signal: AbortSignal,
): Promise<number | undefined> {
  let newestUs: number | undefined
  if (series.length === 0) return undefined
  const text = `SELECT cast(ts AS LONG) FROM ${pointsTable} WHERE ${seriesSql(series)} ORDER BY ts DESC LIMIT 1`
  await connection.read({ text, values: [] }, signal, ([timeUs]) => {
    newestUs = Number(timeUs)
  })
  return newestUs
}

/** Indexed by series. A series without points in the ranges has no entry. */
async function readUnits(
  connection: Connection,
  series: readonly number[],
  ranges: readonly UsRange[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, SeenUnits>> {
  const seen = new Map<number, SeenUnits>()
  for (const { fromUs, toUs } of ranges) {
    if (fromUs >= toUs || series.length === 0) continue
    const where = `ts >= ${whole(fromUs)} AND ts < ${whole(toUs)} AND ${seriesSql(series)}`
    const groups = `SELECT series, unit, count() points, max(ts) newest FROM ${pointsTable} WHERE ${where} GROUP BY series, unit`
    const text = `SELECT series, unit, points, cast(newest AS LONG) FROM (${groups})`
    await connection.read({ text, values: [] }, signal, ([number, name, points, newest]) => {
      const unit = pointUnitOf(name)
      if (unit !== undefined) add(seen, Number(number), unit, Number(points), Number(newest))
    })
  }
  return seen
}

function add(seen: Map<number, SeenUnits>, series: number, unit: PointUnit, points: number, newestUs: number): void {
  const before = seen.get(series)
  const counts = { ...before?.counts, [unit]: (before?.counts[unit] ?? 0) + points }
  const isNewer = before === undefined || newestUs > before.newestUs
  seen.set(series, isNewer ? { counts, unit, newestUs } : { ...before, counts })
}

/** Depends on the points of the range alone, so that past ranges give stable answers. */
export async function answerStationUnits(
  { station, fromUs, toUs }: StationUnitsQuery,
  { connection, signal }: { connection: Pick<PgConnection, 'read'>; signal: AbortSignal },
): Promise<string> {
  const numbers = station.series.map(({ number }) => number)
  const seen = await readUnits(connection, numbers, [{ fromUs, toUs }], signal)
  const units: StationUnits['units'] = {}
  for (const { number, parameter } of station.series) {
    const found = seen.get(number)
    if (found === undefined) continue
    const { unit, counts } = found
    units[parameter] = { unit, counts, left_out: leftOutOf(counts, unit) }
  }
  return JSON.stringify({ device: station.sn, units } satisfies StationUnits)
}
