/** Chooses the range of charts by two dates with times. */

import { useState } from 'preact/hooks'
import { urlArguments } from '../client/address.ts'
import type { Zone } from '../text/zone.ts'
import { addressFault, customWindow, localMinute } from './custom-range.ts'
import type { ShownRange } from './use-range.ts'

export interface CustomDatesProps {
  readonly shown: Pick<ShownRange, 'window' | 'nowMs' | 'zoomTo'>
  /** The zone of the times in the charts. */
  readonly zone: Zone
}

export function CustomDates({ shown, zone }: CustomDatesProps) {
  const [isOpen, setIsOpen] = useState(false)
  const fault = addressFault(urlArguments.value)
  return (
    <>
      <button type="button" class="button dates-button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Dates
      </button>
      {isOpen ? <DatesForm {...{ shown, zone }} onDone={() => setIsOpen(false)} /> : null}
      {fault === undefined ? null : (
        <p class="dates-fault" role="alert">
          {fault}
        </p>
      )}
    </>
  )
}

function DatesForm({ shown, zone, onDone }: CustomDatesProps & { onDone: () => void }) {
  const { window, nowMs, zoomTo } = shown
  const [from, setFrom] = useState(localMinute(window.fromMs, zone))
  const [to, setTo] = useState(localMinute(window.toMs, zone))
  const [fault, setFault] = useState<string>()
  const fields = [
    { name: 'From', value: from, set: setFrom },
    { name: 'To', value: to, set: setTo },
  ]
  return (
    <form
      class="dates"
      noValidate
      aria-label="Dates"
      onSubmit={event => {
        event.preventDefault()
        const chosen = customWindow(from, to, zone, nowMs)
        if (typeof chosen === 'string') return setFault(chosen)
        zoomTo(chosen)
        onDone()
      }}
    >
      {fields.map(({ name, value, set }) => (
        <label key={name}>
          {name}
          <input
            type="datetime-local"
            value={value}
            onInput={({ currentTarget }) => set(currentTarget.value)}
            aria-describedby="dates-zone"
          />
        </label>
      ))}
      <button type="submit" class="button strong">
        Show
      </button>
      <span class="dates-zone" id="dates-zone">
        Times: {zone.name}
      </span>
      {fault === undefined ? null : (
        <p class="dates-fault" role="alert">
          {fault}
        </p>
      )}
    </form>
  )
}
