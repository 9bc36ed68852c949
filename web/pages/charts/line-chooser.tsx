/** Adds a line: a device, and of its gauges one. */

import { useId, useState } from 'preact/hooks'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { useResource } from '../../client/use-resource.ts'
import { DeviceField } from '../../parts/device-field.tsx'
import { quantitiesOf } from '../../text/quantities.ts'
import type { ChosenLine } from './chosen-lines.ts'

export interface LineChooserProps {
  readonly isChosen: (line: ChosenLine) => boolean
  readonly onAdd: (line: ChosenLine) => void
}

export function LineChooser({ isChosen, onAdd }: LineChooserProps) {
  const id = useId()
  const [device, setDevice] = useState('')
  const url = device === '' ? undefined : addressOf(`/api/latest/${encodeURIComponent(device)}`)
  const latest = useResource<LatestOfDevice>(url)
  const [chosen, setChosen] = useState('')
  const known = latest.kind === 'ready' || latest.kind === 'stale' ? latest.value : undefined
  const quantities = quantitiesOf(known?.metrics)
  const gauges = Object.keys(known?.values ?? {}).filter(name => quantities.of(name).kind === 'gauge')
  const free = gauges.filter(metric => !isChosen({ device, metric }))
  const metric = free.includes(chosen) ? chosen : free[0]
  return (
    <form
      class="choice"
      aria-label="Add a line"
      onSubmit={event => {
        event.preventDefault()
        if (metric !== undefined) onAdd({ device, metric })
      }}
    >
      <DeviceField label="Device" value={device} onChoose={setDevice} />
      <label class="device-field" for={id}>
        Metric
        <select
          id={id}
          value={metric ?? ''}
          disabled={free.length === 0}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        >
          {free.map(name => (
            <option key={name} value={name}>
              {quantities.of(name).name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="button strong" disabled={metric === undefined}>
        Add
      </button>
      <p class="chooser-note" role="status">
        {noteOf(latest.kind, device, gauges.length, free.length)}
      </p>
    </form>
  )
}

function noteOf(kind: string, device: string, gauges: number, free: number): string {
  if (device === '') return ''
  if (kind === 'failed') return 'There is no device of this name.'
  if (kind === 'loading') return ''
  if (gauges === 0) return 'This device has no values of gauges.'
  return free === 0 ? 'All gauges of this device are in the chart.' : ''
}
