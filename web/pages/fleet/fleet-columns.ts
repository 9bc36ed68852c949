/** Which values of the fleet have columns of the table: of what every device may have, what any device has. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { airMetrics, isBuiltIn } from '../../text/quantities.ts'

export const valueColumns = [...airMetrics, 'battery'] as const
type ValueColumn = (typeof valueColumns)[number]

export interface FleetColumns {
  readonly values: readonly ValueColumn[]
  /** How many values beside those a device has at most. */
  readonly customMax: number
  /** Whether any device has tags. */
  readonly hasTags: boolean
}

/** In CSS pixels, as `fleet-table.css` has what is between and around them. */
export const columnWidths = {
  select: 44,
  state: 96,
  device: 160,
  /** With room for two of them; while devices are selected the checkboxes take that room. */
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
/** Of a row, its border and the page. */
const aroundWidth = 2 * (16 + 1 + 16)
/** On a smaller screen, everything else is as on a phone, too. */
const wideMin = 861

/** On a screen of less, each row stands in several lines. */
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
