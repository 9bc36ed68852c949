/** The name of a device, with those that the fleet has as suggestions. */

import { useId, useState } from 'preact/hooks'
import { addressOf } from '../../client/address.ts'
import type { FleetAnswer } from '../../client/shapes.ts'
import { useResource } from '../../client/use-resource.ts'

const suggestionsMax = 50

export interface DeviceFieldProps {
  readonly label: string
  readonly value: string
  readonly onChoose: (name: string) => void
}

export function DeviceField({ label, value, onChoose }: DeviceFieldProps) {
  const id = useId()
  const [text, setText] = useState(value)
  const query = new URLSearchParams({ q: text === value ? '' : text, limit: String(suggestionsMax) })
  const fleet = useResource<FleetAnswer>(addressOf(`/api/fleet?${query}`))
  const devices = fleet.kind === 'ready' || fleet.kind === 'stale' ? fleet.value.devices : []
  return (
    <label class="device-field" for={id}>
      {label}
      <input
        id={id}
        list={`${id}-devices`}
        value={value}
        maxLength={200}
        autoComplete="off"
        spellcheck={false}
        onInput={event => setText(event.currentTarget.value)}
        onChange={event => onChoose(event.currentTarget.value.trim())}
      />
      <datalist id={`${id}-devices`}>
        {devices.map(({ device, location_short }) => (
          <option key={device} value={device} label={location_short ?? device} />
        ))}
      </datalist>
    </label>
  )
}
