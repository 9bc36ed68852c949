/** Declares the reads of air-quality stations: a station, and for its points all reads that devices have. */

import { z } from 'zod'
import type { Station } from '../../../auth/stations/station.ts'
import { StationLatest, StationUnits } from '../../../query/shapes/station.ts'
import type { OperationGroup } from '../../http/route-family.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import { type AnalysedOne, type AnalysesQuery, analysesOfOne } from '../analysis-operations.ts'
import type { SendRange } from '../range-sender.ts'
import { markReadsAsPrivate, type ReadAccess } from '../read-access.ts'
import { jsonRead, ofReads, readGroup, readOperation } from '../read-operation.ts'
import { rangeSuccess } from '../readings.ts'
import { RangeParameters } from '../readings-parameters.ts'
import { createAnalysed, createStationAnswers, type StationAnswersOptions } from './station-answers.ts'
import { leftOutHeader, unitsHeader } from './station-range.ts'
import { PublicStation } from './station-shape.ts'
import { absentParameter, type StationSubjectOptions, stationInPath, stationMetrics } from './station-subject.ts'

export interface StationReadsOptions extends StationSubjectOptions, StationAnswersOptions {
  stations: StationSubjectOptions['stations'] & StationAnswersOptions['stations']
  query: AnalysesQuery & StationAnswersOptions['query']
}

const StationPath = z.object({ sn: z.string().meta({ description: 'The serial number of a station' }) })
const UnitsParameters = RangeParameters.pick({ start: true, end: true })

export function stationsGroup(
  access: ReadAccess,
  options: StationReadsOptions,
  sendRange: SendRange,
): OperationGroup<ReadOperation> {
  const group = readGroup(
    ...ownOperations(access, options, sendRange),
    ...analysesOfOne(access, options.query, analysedOne(options)),
  )
  return {
    ...group,
    tag: { name: 'stations', description },
    prepare(scope) {
      group.prepare?.(scope)
      // With private reads, all answers are private anyway.
      if (access.isOpen) markReadsAsPrivate(scope)
    },
  }
}

function analysedOne(options: StationReadsOptions): AnalysedOne<Station> {
  return {
    subject: stationInPath(options),
    pathShape: StationPath,
    ignoresUnknown: false,
    unknown: 'STATION_UNKNOWN',
    pathOf: analysis => `/stations/:sn/${analysis}`,
    nameOf: title => `read_station_${title}`,
    noun: 'station',
    device: createAnalysed(options.stations),
    absent: absentParameter,
    custom: (station, _always, names) => stationMetrics(options.metrics, station, names),
  }
}

function ownOperations(access: ReadAccess, options: StationReadsOptions, sendRange: SendRange): ReadOperation[] {
  const { describe, latest, units, range } = createStationAnswers(options, sendRange)
  const subject = stationInPath(options)
  const common = { subject, parameters: { path: StationPath }, refusals: ['STATION_UNKNOWN'] } as const
  return [
    jsonRead(access, {
      ...common,
      path: '/stations/:sn',
      name: 'read_station',
      summary: 'Describes a station',
      answer: PublicStation.meta({ id: 'PublicStation' }),
      handle: describe,
    }),
    jsonRead(access, {
      ...common,
      path: '/stations/:sn/latest',
      name: 'read_station_latest',
      summary: 'The newest point of each parameter of a station',
      description: 'Of those that came in the 31 days up to the newest point of the station; the others are not in it.',
      answer: StationLatest.meta({ id: 'StationLatest' }),
      handle: latest,
    }),
    jsonRead(access, {
      ...common,
      path: '/stations/:sn/units',
      name: 'read_station_units',
      summary: 'In which units the points of a range are',
      parameters: { path: StationPath, query: UnitsParameters },
      answer: StationUnits.meta({ id: 'StationUnits' }),
      handle: units,
    }),
    readOperation(access, {
      ...common,
      path: '/stations/:sn/readings',
      name: 'read_station_range',
      summary: 'The points of a range, one row for each time',
      description: 'Streamed, oldest first. An error in the middle breaks the connection.',
      parameters: { path: StationPath, query: RangeParameters },
      success: { ...rangeSuccess, headers: { [unitsHeader]: shownUnits, [leftOutHeader]: leftOut } },
      refusals: [...ofReads, 'STATION_UNKNOWN', 'HTTP_VERSION', 'TIMED_OUT'],
      handle: range,
    }),
  ]
}

const shownUnits = {
  description:
    'The unit of each parameter with points in the range, as `no2=ppb, pm25=ugm3`; absent where there are none.',
  schema: { type: 'string' },
}

const leftOut = {
  description: 'Points that are left out for their unit, as `o3=6`; absent where there are none.',
  schema: { type: 'string' },
}

const description =
  'Pages of air-quality stations: their points as the readings of a device. Public stations are for everybody who may read' +
  ' here, private ones for their owner and administrators; for others there is no such station.'
