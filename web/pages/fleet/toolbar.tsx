/** The search, the order of the list where the table has no header to press, and a line on the list. */

import type { ComponentChildren } from 'preact'
import { type FleetView, type SortKey, sortKeys } from './fleet-view.ts'

const names: Record<SortKey, string> = {
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
  onChange: (change: Partial<FleetView>, options?: { replace?: boolean }) => void
  children: ComponentChildren
}

export function Toolbar({ view, onChange, children }: ToolbarProps) {
  return (
    <div class="toolbar">
      <label>
        <span>Search</span>
        <input
          type="search"
          value={view.search}
          placeholder="Name or place"
          onInput={({ currentTarget }) => onChange({ search: currentTarget.value }, { replace: true })}
        />
      </label>
      <label class="order">
        <span>Order</span>
        <select
          value={view.sort}
          onChange={({ currentTarget }) => onChange({ sort: currentTarget.value as SortKey, isDescending: false })}
        >
          {sortKeys.map(key => (
            <option key={key} value={key}>
              {names[key]}
            </option>
          ))}
        </select>
      </label>
      <p>{children}</p>
    </div>
  )
}
