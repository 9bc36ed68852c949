/** What is told of a station's points of a range: each parameter in one unit, and how many points are left out for theirs. */

import type { Station } from '../../../auth/stations/station.ts'
import { analysedStation } from '../../../query/analysed-device.ts'
import { seriesTable } from '../../../query/export/series-table.ts'
import { pointStation } from '../../../query/points/station.ts'
import type { Query } from '../../../query/query.ts'
import { StationUnits } from '../../../query/shapes/station.ts'
import { sumOf } from '../../../query/stations/point-units.ts'
import { namedMetrics } from '../metrics-parameter.ts'
import type { RangeContent } from '../range-sender.ts'
import type { ReadingsParameters } from '../readings-parameters.ts'
import { type DescribedMetrics, stationMetrics } from './station-metrics.ts'

export const leftOutHeader = 'points-left-out'

interface RangeAsked extends Pick<ReadingsParameters, 'fromUs' | 'toUs'> {
  /** The parameter `metrics` as it came. */
  readonly names: unknown
}

export async function stationRange(
  { query, metrics }: { query: Pick<Query, 'stationUnits'>; metrics: DescribedMetrics },
  station: Station,
  { fromUs, toUs, names }: RangeAsked,
  client: AbortSignal,
): Promise<RangeContent> {
  const named = namedMetrics(names, stationMetrics(metrics, station, undefined))
  if (typeof named === 'string') return { ok: false, code: 'PARAMETER_INVALID', text: named }
  const answer = await query.stationUnits(analysedStation(station.id, pointStation(station)), { fromUs, toUs }, client)
  if (!answer.ok) return { ok: false, code: answer.code }
  const { units } = StationUnits.parse(JSON.parse(Buffer.from(answer.body.bytes).toString()))
  const { id, sn } = station
  // A parameter that it does not measure has a column for who asks for it.
  const chosen = names === undefined ? named.filter(({ name }) => units[name] !== undefined) : named
  const found = chosen.flatMap(({ name, series }, place) => {
    const told = units[name]
    return told === undefined || series === undefined ? [] : [{ name, series, place, ...told }]
  })
  const sums = found.map(({ name, left_out }) => [name, sumOf(left_out)] as const)
  const leftOut = sums.filter(([, sum]) => sum > 0).map(([name, sum]) => `${name}=${sum}`)
  return {
    ok: true,
    content: {
      fromUs,
      toUs,
      devices: [{ number: id, name: sn, symbol: '' }],
      metrics: chosen,
      series: seriesTable(found.flatMap(({ series, place }) => [series, id, place])),
      station: { id, units: found.map(({ series, unit }) => [series, unit] as const) },
      headers: leftOut.length === 0 ? {} : { [leftOutHeader]: leftOut.join(', ') },
    },
  }
}
