/** What a thread uses for a query of a station: its points in the place of readings, in the units that they are shown in. */

import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import type { LocalTimes } from '../local-times.ts'
import type { Station } from '../points/station.ts'
import type { ColumnsReader } from '../questdb/columns-reader.ts'
import { createValuesSource } from '../questdb/measurements-source.ts'
import type { InUnits, TaskContext } from '../task-context.ts'
import { inShownUnit, leftOutOf, sumOf } from './point-units.ts'
import { createStationTimes } from './station-times.ts'
import { readStationUnits } from './unit-reads.ts'

export interface StationReads {
  readonly reader: Pick<ColumnsReader, 'read'>
  readonly connection: Pick<PgConnection, 'read'>
  readonly localTimes: LocalTimes
  readonly rowsMax: number
}

export async function createStationContext(
  station: Station,
  { reader, connection, localTimes, rowsMax }: StationReads,
  signal: AbortSignal,
): Promise<TaskContext> {
  const numbers = station.series.map(({ number }) => number)
  const { shown, table, countIn } = await readStationUnits(connection, numbers, signal)

  const inUnits: InUnits = async (further, ranges) => {
    const counts = await countIn(ranges)
    return further.flatMap(metric => {
      const { series } = metric
      const unit = series === undefined ? undefined : shown.get(series)
      // A parameter that it does not measure is none of its metrics.
      if (series === undefined || unit === undefined) return []
      return [inShownUnit(metric, unit, sumOf(leftOutOf(counts.get(series) ?? {}, unit)))]
    })
  }

  return {
    source: createStationTimes(reader, connection, table, numbers),
    measurements: createValuesSource(reader, connection, table),
    inUnits,
    local: localTimes(station.timeZone),
    rowsMax,
    signal,
  }
}
