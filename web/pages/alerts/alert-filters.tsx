/** Which alerts are shown, and in which order; it is kept in the address. */

import { useState } from 'preact/hooks'
import { setArguments } from '../../client/address.ts'
import { severities } from '../../parts/severity-badge.tsx'

export interface AlertFiltersProps {
  severity: string
  device: string
  isByDevice: boolean
}

export function AlertFilters({ severity, device, isByDevice }: AlertFiltersProps) {
  const [text, setText] = useState(device)
  return (
    <div class="fields filters">
      <label class="field">
        Severity
        <select
          value={severity}
          onChange={({ currentTarget }) => setArguments({ severity: currentTarget.value, after: undefined })}
        >
          <option value="">all</option>
          {severities.map(one => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Device
        <input
          type="search"
          value={text}
          maxLength={256}
          placeholder="all"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onChange={({ currentTarget }) => setArguments({ device: currentTarget.value.trim(), after: undefined })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isByDevice}
          onChange={({ currentTarget }) => setArguments({ by: currentTarget.checked ? 'device' : undefined })}
        />
        By device
      </label>
    </div>
  )
}
