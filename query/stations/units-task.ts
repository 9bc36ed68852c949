/** In which units a station has sent its points of a range, and which of them answers show. */

import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import type { StationUnits } from '../shapes/station.ts'
import type { StationUnitsQuery } from '../task.ts'
import { leftOutOf } from './point-units.ts'
import { readStationUnits } from './unit-reads.ts'

export async function answerStationUnits(
  { station, fromUs, toUs }: StationUnitsQuery,
  { connection, signal }: { connection: Pick<PgConnection, 'read'>; signal: AbortSignal },
): Promise<string> {
  const numbers = station.series.map(({ number }) => number)
  const { shown, countIn } = await readStationUnits(connection, numbers, signal)
  const counts = await countIn([{ fromUs, toUs }])
  const units: StationUnits['units'] = {}
  for (const { number, parameter } of station.series) {
    const unit = shown.get(number)
    if (unit === undefined) continue
    units[parameter] = { unit, counts: counts.get(number) ?? {}, left_out: leftOutOf(counts, number, unit) }
  }
  return JSON.stringify({ device: station.sn, units } satisfies StationUnits)
}
