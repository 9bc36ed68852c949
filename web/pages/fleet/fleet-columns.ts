/** The columns of the table: built-in metrics that any device has. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { airMetrics, isBuiltIn } from '../../text/quantities.ts'

export const valueColumns = [...airMetrics, 'battery'] as const
type ValueColumn = (typeof valueColumns)[number]

export interface FleetColumns {
  readonly values: readonly ValueColumn[]
  /** The largest number of custom values on a device. */
  readonly customMax: number
  /** True if any device has tags. */
  readonly hasTags: boolean
}

/** CSS pixels. Gaps and margins are in `fleet-table.css`. */
export const columnWidths = {
  select: 44,
  state: 96,
  device: 160,
  /** Room for two tags. During a selection the checkboxes take it. */
  taggedDevice: 230,
  age: 132,
  temperature: 100,
  humidity: 84,
  pressure: 104,
  battery: 80,
  custom: 180,
  hours: 128,
} as const
const gapWidth = 8
/** The width around a row: padding, border and page margin. */
const aroundWidth = 2 * (16 + 1 + 16)
/** Smaller screens have the layout of a phone. */
const wideMin = 861

/** On a narrower screen, each row takes several lines. */
export function tableWidthMin({ values, customMax, hasTags }: FleetColumns, isSelecting: boolean): number {
  const custom = customMax > 0 ? (['custom'] as const) : []
  const select = isSelecting ? (['select'] as const) : []
  const names = [...select, 'state', deviceColumn(hasTags, isSelecting), 'age', ...values, ...custom, 'hours'] as const
  const width = names.reduce((sum, name) => sum + columnWidths[name], 0) + gapWidth * (names.length - 1)
  return Math.max(wideMin, width + aroundWidth)
}

export function deviceColumn(hasTags: boolean, isSelecting: boolean): 'device' | 'taggedDevice' {
  return hasTags && !isSelecting ? 'taggedDevice' : 'device'
}

export function columnsOfFleet(devices: readonly FleetDevice[]): FleetColumns {
  const found = new Set<string>()
  for (const { values } of devices) for (const name in values) found.add(name)
  const has = (column: ValueColumn) =>
    column === 'battery' ? found.has('battery_voltage') || found.has('battery_percentage') : found.has(column)
  const hasTags = devices.some(({ tags }) => tags !== undefined)
  const customMax = devices.reduce((most, { values }) => {
    return Math.max(most, Object.keys(values).filter(name => !isBuiltIn(name)).length)
  }, 0)
  return { values: valueColumns.filter(has), customMax, hasTags }
}
