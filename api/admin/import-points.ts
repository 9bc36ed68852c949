/** `POST /api/admin/import-points`: imports points of air-quality stations. */

import { ChangeInDoubt } from '../../auth/record-cache.ts'
import type { Station } from '../../auth/stations/station.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { Unresolved } from '../../ingest/formats/encode.ts'
import type { Series } from '../../ingest/formats/row-kind.ts'
import { NamesUnavailable } from '../../ingest/import/import.ts'
import type { PointsIngest } from '../../ingest/ingest.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { OperationGroup } from '../http/route-family.ts'
import { type ImportRoute, type ImportRouteOptions, importGroup } from './import-route.ts'
import type { AdminOperation } from './operation.ts'

export interface ImportPointsOptions extends ImportRouteOptions {
  pointsIngest: Pick<PointsIngest, 'append' | 'clockUs'>
  stations: Pick<Stations, 'registry' | 'noteData'>
  rejections: Pick<Rejections, 'add' | 'addLines'>
}

const unknownStation = { code: 'STATION_UNKNOWN', reason: 'there is no station with this sn' } as const

export function importPointsGroup(options: ImportPointsOptions): OperationGroup<AdminOperation> {
  const { pointsIngest, stations, rejections } = options

  /** Looks all stations up again: one may have been removed since the last chunk. */
  async function resolve(names: readonly (readonly string[])[]): Promise<(PointSeries | Unresolved)[]> {
    const { bySn } = await registry(stations)
    return names.map(([sn = '', parameter = '', unit = '']) => {
      const station = bySn.get(sn)
      return station === undefined ? unknownStation : seriesOf(station, parameter, unit)
    })
  }

  function onStored(stored: readonly Series[]): void {
    const nowMs = Math.floor(pointsIngest.clockUs() / 1000)
    for (const { station } of stored as readonly PointSeries[]) stations.noteData(station, nowMs)
  }

  const route: ImportRoute = {
    path: '/import-points',
    name: 'admin_import_points',
    summary: 'Import data points',
    kind: 'points',
    ingest: pointsIngest,
    resolve,
    onStored,
    onResult(sender, { report, failure }) {
      const source = { way: 'import_points', sender } as const
      rejections.addLines(source, report)
      if (failure !== undefined) rejections.add({ ...source, reason: failure.reason })
    },
    noRowsCode: 'NO_POINTS',
  }
  return importGroup(route, options)
}

interface PointSeries extends Series {
  station: Station
}

function seriesOf(station: Station, parameter: string, unit: string): PointSeries | Unresolved {
  const numbers: ReadonlyMap<string, number> = station.series
  const number = numbers.get(parameter)
  if (number !== undefined) return { number, symbol: unit, station }
  return { code: 'PARAMETER_UNKNOWN', reason: `parameter must be one of ${[...numbers.keys()].join(', ')}` }
}

async function registry(stations: ImportPointsOptions['stations']): ReturnType<Stations['registry']> {
  try {
    return await stations.registry()
  } catch (error) {
    const isAway = isUnavailable(error) || error instanceof ChangeInDoubt
    throw isAway ? new NamesUnavailable('the stations cannot be read: PostgreSQL does not answer') : error
  }
}
