/** `POST /import` and `/import-points`: imports readings, and points of air-quality stations, with their own times. */

import { type Device, nameFault } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { BulkFields } from '../../auth/metrics/device-fields.ts'
import { ChangeInDoubt } from '../../auth/record-cache.ts'
import type { Station } from '../../auth/stations/station.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { writeRefusalReason } from '../../auth/writers.ts'
import type { Unresolved } from '../../ingest/formats/encode.ts'
import type { Series } from '../../ingest/formats/row-kind.ts'
import { NamesUnavailable } from '../../ingest/import/import.ts'
import type { FieldResolver, SentField } from '../../ingest/import/resolve-names.ts'
import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import { composed } from '../../store/plain-text.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { BulkMeter } from '../write/bulk-meter.ts'
import { type ImportRoute, type ImportRouteOptions, importGroup } from './import-route.ts'
import type { AdminOperation } from './operation.ts'

interface ImportOptions extends ImportRouteOptions {
  ingest: Pick<Ingest, 'append' | 'clockUs'>
  devices: Pick<Devices, 'get'>
  bulkFields: BulkFields
  meter: BulkMeter
}

function unknownDevice(name: string) {
  // The command line adds unknown devices if their names are valid.
  const code = nameFault(name) === undefined ? 'DEVICE_UNKNOWN' : 'NAME_INVALID'
  return { code, reason: writeRefusalReason(code, name) } as const
}

export function importReadingsGroup(options: ImportOptions): OperationGroup<AdminOperation> {
  const { ingest, devices, bulkFields, meter } = options
  const find = (name: string) => devices.get(name) ?? unknownDevice(composed(name))
  const route: ImportRoute = {
    path: '/import',
    name: 'admin_import_readings',
    summary: 'Import readings',
    kind: 'readings',
    ingest,
    resolve: async names => names.map(([name = '']) => find(name)),
    fields: actor => fieldResolver(names => names.map(find), bulkFields, actor),
    noRowsCode: 'NO_READINGS',
    onResult(sender, { report, failure }) {
      const source = { way: 'import', sender } as const
      meter.taken(source, report.accepted, report)
      if (failure !== undefined) meter.refused(source, failure.reason)
    },
  }
  return importGroup(route, options)
}

function fieldResolver(find: FieldResolver['find'], { resolve, metricsOf }: BulkFields, actor: string): FieldResolver {
  return {
    find,
    async resolve(sent) {
      // The registry has resolved these.
      const found = await resolve(sent as readonly (SentField & { device: Device })[], actor)
      if (found === 'later') throw new NamesUnavailable('PostgreSQL does not answer')
      return found
    },
    metricsOf,
  }
}

interface ImportPointsOptions extends ImportRouteOptions {
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
