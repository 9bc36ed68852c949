/** The units of a station's points in a range, and the units that a read of the range shows. */

import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import type { StationUnitsQuery } from '../queries.ts'
import type { StationUnits } from '../shapes/station.ts'
import { leftOutOf } from './point-units.ts'
import { readUnits } from './unit-reads.ts'

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
