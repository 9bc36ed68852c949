/** Buttons that choose, move and zoom the range of charts, and a form for its dates. */

import type { Zone } from '../text/zone.ts'
import { CustomDates } from './custom-dates.tsx'
import { Presets } from './presets.tsx'
import { isPreset, monthUpTo, type Preset, pan, zoom } from './range.ts'
import type { ShownRange } from './use-range.ts'

export interface RangeControlsProps {
  /** Shortest first. */
  readonly presets: readonly Preset[]
  readonly shown: ShownRange
  /** The zone of the times in the charts. */
  readonly zone: Zone
}

const nameOfPreset: Record<Preset, string> = {
  '1h': '1 hour',
  '6h': '6 hours',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '365d': '1 year',
}

export function RangeControls({ presets, shown, zone }: RangeControlsProps) {
  const { range, choose, nowMs, zoomTo } = shown
  const names = Object.fromEntries(presets.map(preset => [preset, nameOfPreset[preset]])) as Record<Preset, string>
  return (
    <>
      <Presets names={names} chosen={isPreset(range) ? range.preset : undefined} onChoose={choose} />
      <button type="button" class="button dates-button" onClick={() => zoomTo(monthUpTo(nowMs, zone))}>
        This month
      </button>
      <Steps {...shown} />
      <CustomDates shown={shown} zone={zone} />
    </>
  )
}

function Steps({ window, nowMs, zoomTo }: ShownRange) {
  const middleMs = (window.fromMs + window.toMs) / 2
  const steps = [
    { name: 'Earlier', sign: '←', to: () => pan(window, -0.5, nowMs) },
    { name: 'Later', sign: '→', to: () => pan(window, 0.5, nowMs) },
    { name: 'Zoom out', sign: '−', to: () => zoom(window, 2, middleMs, nowMs) },
    { name: 'Zoom in', sign: '+', to: () => zoom(window, 0.5, middleMs, nowMs) },
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
