/** The columns by which points can be filtered and sorted: every field of a point as a response shows it. */

import { pointUnits } from '../../store/tables.ts'
import type { Station } from '../analysed-device.ts'
import type { Column, ColumnTypes } from '../conditions/select-rows.ts'
import { type PointRows, pointId } from './point-rows.ts'
import type { PointTexts } from './point-texts.ts'
import type { RunningMeans } from './running-means.ts'

export const meanColumns = ['value_15min', 'value_30min', 'value_60min'] as const

export const pointColumnTypes = {
  id: { type: 'integer' },
  sn: { type: 'text' },
  parameter: { type: 'text' },
  unit: { type: 'text' },
  timestamp: { type: 'time' },
  timestamp_local: { type: 'time' },
  last_updated: { type: 'time' },
  value_1min: { type: 'number' },
  value_15min: { type: 'number' },
  value_30min: { type: 'number' },
  value_60min: { type: 'number' },
} as const satisfies ColumnTypes

export type PointColumn = keyof typeof pointColumnTypes

/** The columns of rows in memory. A row is its index. */
export function columnsOf(
  { sn, series }: Station,
  rows: PointRows,
  texts: PointTexts,
  means: RunningMeans,
): Record<PointColumn, Column<number>> {
  const parameters = new Map(series.map(({ number, parameter }) => [number, parameter]))
  const timeUs = (row: number) => rows.timesUs[row] as number
  const seriesOf = (row: number) => rows.series[row] as number
  const mean = (index: 0 | 1 | 2) => (row: number) => {
    const value = means.at(seriesOf(row), timeUs(row))[index]
    return Number.isNaN(value) ? null : value
  }
  return {
    id: { type: 'integer', value: row => pointId({ timeUs: timeUs(row), series: seriesOf(row) }) },
    sn: { type: 'text', value: () => sn },
    parameter: { type: 'text', value: row => parameters.get(seriesOf(row)) ?? null },
    unit: { type: 'text', value: row => pointUnits[rows.units[row] as number] ?? null },
    timestamp: { type: 'time', value: timeUs, text: row => texts.utc(timeUs(row)) },
    timestamp_local: { type: 'time', value: timeUs, text: row => texts.local(timeUs(row)) },
    last_updated: {
      type: 'time',
      value: row => rows.storedUs[row] as number,
      text: row => texts.stored(rows.storedUs[row] as number),
    },
    value_1min: { type: 'number', value: row => rows.values[row] as number },
    value_15min: { type: 'number', value: mean(0) },
    value_30min: { type: 'number', value: mean(1) },
    value_60min: { type: 'number', value: mean(2) },
  }
}
