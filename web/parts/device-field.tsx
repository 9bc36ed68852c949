/** The name of a device, with those that the fleet has as suggestions. */

import { useEffect, useId, useState } from 'preact/hooks'
import type { Fleet } from '../../query/live/fleet-shape.ts'
import { addressOf } from '../client/address.ts'
import { useResource } from '../client/use-resource.ts'
import { useRested } from '../client/use-rested.ts'

const suggestionsMax = 50

export interface DeviceFieldProps {
  readonly label: string
  readonly value: string
  readonly onChoose: (name: string) => void
}

export function DeviceField({ label, value, onChoose }: DeviceFieldProps) {
  const id = useId()
  const [text, setText] = useState(value)
  // The back button changes it too.
  useEffect(() => setText(value), [value])
  const typed = useRested(text === value ? '' : text.trim())
  const query = new URLSearchParams({ limit: String(suggestionsMax), ...(typed ? { q: typed } : {}) })
  const fleet = useResource<Fleet>(addressOf(`/api/fleet?${query}`))
  const devices = fleet.kind === 'ready' || fleet.kind === 'stale' ? fleet.value.devices : []
  return (
    <label class="device-field" for={id}>
      {label}
      <input
        id={id}
        list={`${id}-devices`}
        value={text}
        maxLength={200}
        autoComplete="off"
        spellcheck={false}
        onInput={event => setText(event.currentTarget.value)}
        onChange={event => onChoose(event.currentTarget.value.trim())}
      />
      <datalist id={`${id}-devices`}>
        {devices.map(({ device, location_short }) => (
          <option key={device} value={device} label={location_short} />
        ))}
      </datalist>
    </label>
  )
}
