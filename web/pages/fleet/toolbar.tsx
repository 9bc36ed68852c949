/** One row with the search, the order where the table has no header to press, and further controls. */

import type { ComponentChildren } from 'preact'
import type { Quantities } from '../../text/quantities.ts'
import type { FleetColumns } from './fleet-columns.ts'
import { customOf, type FleetView, offeredKeys, type SortKey } from './fleet-view.ts'

const names: Record<string, string> = {
  state: 'Worst state first',
  device: 'Name',
  place: 'Place',
  age: 'Newest reading first',
  temperature: 'Temperature',
  humidity: 'Humidity',
  pressure: 'Pressure',
  battery: 'Battery, lowest first',
}

export interface ToolbarProps {
  view: FleetView
  columns: FleetColumns
  /** Metrics without a column. */
  custom: readonly string[]
  quantities: Quantities
  /** True if some sort key has no column header. */
  hasOrder: boolean
  onChange: (change: Partial<FleetView>, options?: { replace?: boolean }) => void
  children: ComponentChildren
}

export function Toolbar({ view, columns, custom, quantities, hasOrder, onChange, children }: ToolbarProps) {
  const nameOf = (key: SortKey) => names[key] ?? quantities.of(customOf(key) ?? key).name
  return (
    <div class="toolbar">
      <label class="device-search">
        <span class="unseen">Search</span>
        <input
          type="search"
          value={view.search}
          placeholder="Name or place"
          onInput={({ currentTarget }) => onChange({ search: currentTarget.value }, { replace: true })}
        />
      </label>
      {hasOrder ? (
        <label class="order">
          <span>Order</span>
          <select
            value={view.sort}
            onChange={({ currentTarget }) => onChange({ sort: currentTarget.value as SortKey, isDescending: false })}
          >
            {offeredKeys(columns, custom, view.sort).map(key => (
              <option key={key} value={key}>
                {nameOf(key)}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {children}
    </div>
  )
}
