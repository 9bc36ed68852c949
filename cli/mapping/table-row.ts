/** The parts of a row that both readings of a file need: its series, and the text of its time. */

import type { MappedSeries, Place } from './table-columns.ts'
import type { TableRow } from './table-lines.ts'

export interface RowSeries {
  /** Undefined where the row names none. */
  readonly device: string | undefined
  /** In files of one value a line. */
  readonly value: MappedSeries | undefined
}

/** Undefined for a row of a series that is not read. */
export function seriesIn({ table: { columns }, cells }: TableRow): RowSeries | undefined {
  const { values } = columns
  const value = values.kind === 'long' ? values.seriesOf((cells[values.series] ?? '').trim()) : undefined
  if (values.kind === 'long' && value === undefined) return undefined
  const device = columns.device === undefined ? value?.device : textIn(columns.device, cells)
  return { device: device === '' ? undefined : device, value }
}

/** The lines of one series are in an order of their own. */
export function seriesKey({ device, value }: RowSeries): string {
  return value === undefined ? (device ?? '') : `${device}\n${value.metric}`
}

/** Undefined where the time of day is in another column and missing. */
export function timeIn({ table: { columns }, cells }: TableRow): string | undefined {
  const date = (cells[columns.timestamp] ?? '').trim()
  if (columns.clock === undefined) return date
  const clock = textIn(columns.clock, cells)
  return clock === '' ? undefined : `${date} ${clock}`
}

function textIn(place: Place, cells: readonly string[]): string {
  return 'text' in place ? place.text : (cells[place.column] ?? '').trim()
}
