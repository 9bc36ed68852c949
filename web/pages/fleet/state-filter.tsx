/** The number of devices by state. Each is a button that shows only these. */

import { countText } from '../../../analytics/findings/value-words.ts'
import { type DeviceState, deviceStates } from '../../client/device-states.ts'
import { StateBadge } from '../../parts/state-badge.tsx'
import type { Counts } from './fleet-devices.ts'

export interface StateFilterProps {
  counts: Counts
  chosen: readonly DeviceState[]
  onChange: (states: DeviceState[]) => void
}

export function StateFilter({ counts, chosen, onChange }: StateFilterProps) {
  const toggled = (state: DeviceState) =>
    deviceStates.filter(other => (other === state ? !chosen.includes(other) : chosen.includes(other)))
  return (
    <ul class="counts" aria-label="Devices by state">
      {deviceStates.map(state => (
        <li key={state}>
          <button type="button" aria-pressed={chosen.includes(state)} onClick={() => onChange(toggled(state))}>
            <b>{countText(counts[state])}</b> <StateBadge state={state} />
          </button>
        </li>
      ))}
    </ul>
  )
}
