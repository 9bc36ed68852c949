/** The points of a range of a station, in the units that they are shown in. */

import type { Station } from '../../../auth/stations/station.ts'
import type { AnalysedStation } from '../../../query/analysed-device.ts'
import { seriesTable } from '../../../query/export/series-table.ts'
import type { Query } from '../../../query/query.ts'
import { StationUnits } from '../../../query/shapes/station.ts'
import { sumOf } from '../../../query/stations/point-units.ts'
import { namedMetrics } from '../range-metrics.ts'
import type { RangeContent } from '../range-sender.ts'
import type { ReadingsParameters } from '../readings-parameters.ts'
import { type DescribedMetrics, stationMetrics } from './station-subject.ts'

export const leftOutHeader = 'points-left-out'
export const unitsHeader = 'point-units'

interface StationRangeOptions {
  query: Pick<Query, 'stationUnits'>
  metrics: DescribedMetrics
  analysed: (station: Station) => AnalysedStation
}

interface RangeAsked extends Pick<ReadingsParameters, 'fromUs' | 'toUs'> {
  /** Parameter `metrics` as sent. */
  readonly names: unknown
}

export async function stationRange(
  { query, metrics, analysed }: StationRangeOptions,
  station: Station,
  { fromUs, toUs, names }: RangeAsked,
  client: AbortSignal,
): Promise<RangeContent> {
  const named = namedMetrics(names, stationMetrics(metrics, station, undefined))
  if (typeof named === 'string') return { ok: false, code: 'PARAMETER_INVALID', text: named }
  const answer = await query.stationUnits(analysed(station).station, { fromUs, toUs }, client)
  if (!answer.ok) return { ok: false, code: answer.code }
  const { units } = StationUnits.parse(JSON.parse(Buffer.from(answer.body.bytes).toString()))
  const { id, sn } = station
  // A named parameter without points in the range gets a column.
  const chosen = names === undefined ? named.filter(({ name }) => units[name] !== undefined) : named
  const found = chosen.flatMap(({ name, series }, place) => {
    const ofRange = units[name]
    return ofRange === undefined || series === undefined ? [] : [{ name, series, place, ...ofRange }]
  })
  const leftOut = found.map(({ name, left_out }) => [name, sumOf(left_out)] as const).filter(([, sum]) => sum > 0)
  return {
    ok: true,
    content: {
      fromUs,
      toUs,
      devices: [{ number: id, name: sn, symbol: '' }],
      metrics: chosen,
      series: seriesTable(found.flatMap(({ series, place }) => [series, id, place])),
      station: { id, units: found.map(({ series, unit }) => [series, unit] as const) },
      headers: {
        ...listHeader(
          unitsHeader,
          found.map(({ name, unit }) => [name, unit]),
        ),
        ...listHeader(leftOutHeader, leftOut),
      },
    },
  }
}

/** `no2=ppb, pm25=ugm3`; an empty list has no header. */
function listHeader(name: string, entries: readonly (readonly [string, string | number])[]): Record<string, string> {
  return entries.length === 0 ? {} : { [name]: entries.map(entry => entry.join('=')).join(', ') }
}
