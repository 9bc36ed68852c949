/** Buttons that choose, move and zoom the range of charts, and a form for its dates. */

import './charts.css'
import { useState } from 'preact/hooks'
import { urlArguments } from '../client/address.ts'
import type { Zone } from '../text/zone.ts'
import { t, tc } from '../words/words.ts'
import { addressFault, customWindow, isPreset, localMinute, monthUpTo, type Preset, pan, zoom } from './range.ts'
import type { ShownRange } from './use-range.ts'

interface RangeControlsProps {
  /** Shortest first. */
  readonly presets: readonly Preset[]
  readonly shown: ShownRange
  /** The zone of the times in the charts. */
  readonly zone: Zone
}

const nameOfPreset: Record<Preset, string> = {
  '1h': t('1 hour'),
  '6h': t('6 hours'),
  '24h': t('24 hours'),
  '7d': t('7 days'),
  '30d': t('30 days'),
  '365d': t('1 year'),
}

export function RangeControls({ presets, shown, zone }: RangeControlsProps) {
  const { range, choose, nowMs, zoomTo } = shown
  const names = Object.fromEntries(presets.map(preset => [preset, nameOfPreset[preset]])) as Record<Preset, string>
  return (
    <>
      <Presets names={names} chosen={isPreset(range) ? range.preset : undefined} onChoose={choose} />
      <button type="button" class="button dates-button" onClick={() => zoomTo(monthUpTo(nowMs, zone))}>
        {t('This month')}
      </button>
      <Steps {...shown} />
      <CustomDates shown={shown} zone={zone} />
    </>
  )
}

function Steps({ window, nowMs, zoomTo }: ShownRange) {
  const middleMs = (window.fromMs + window.toMs) / 2
  const steps = [
    { name: t('Earlier'), sign: '←', to: () => pan(window, -0.5, nowMs) },
    { name: t('Later'), sign: '→', to: () => pan(window, 0.5, nowMs) },
    { name: t('Zoom out'), sign: '−', to: () => zoom(window, 2, middleMs, nowMs) },
    { name: t('Zoom in'), sign: '+', to: () => zoom(window, 0.5, middleMs, nowMs) },
  ]
  return (
    <div class="steps">
      {steps.map(({ name, sign, to }) => (
        <button key={name} type="button" class="button" aria-label={name} title={name} onClick={() => zoomTo(to())}>
          {sign}
        </button>
      ))}
    </div>
  )
}

interface CustomDatesProps {
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
        {t('Dates')}
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
    { name: tc('time', 'From'), value: from, set: setFrom },
    { name: tc('time', 'To'), value: to, set: setTo },
  ]
  return (
    <form
      class="dates"
      noValidate
      aria-label={t('Dates')}
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
        {t('Show')}
      </button>
      <span class="dates-zone" id="dates-zone">
        {t('Times: {name}', { name: zone.name })}
      </span>
      {fault === undefined ? null : (
        <p class="dates-fault" role="alert">
          {fault}
        </p>
      )}
    </form>
  )
}

interface PresetsProps<Name extends string> {
  readonly names: Readonly<Record<Name, string>>
  readonly chosen: Name | undefined
  readonly onChoose: (name: Name) => void
}

export function Presets<Name extends string>({ names, chosen, onChoose }: PresetsProps<Name>) {
  return (
    <fieldset class="presets">
      <legend class="unseen">{t('Range')}</legend>
      {(Object.keys(names) as Name[]).map(name => (
        <button key={name} type="button" class="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {names[name]}
        </button>
      ))}
    </fieldset>
  )
}
