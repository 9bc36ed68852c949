/** The marks of a map: a device as a link to its page, several as a button that leads closer. */

import type { FleetMap } from '../../live/fleet-shape.ts'
import { addressOf } from '../client/address.ts'
import { devicePath } from '../client/routes.ts'
import { StateShape } from '../parts/state-badge.tsx'
import { countText } from '../text/numbers.ts'
import { type MergedMark, markText, worstState } from './merged-marks.ts'

export interface MapMarksProps {
  marks: readonly MergedMark[]
  onPress: (mark: MergedMark) => void
}

/** Of so many, each is named beside its mark. */
const namedMax = 12

export function MapMarks({ marks, onPress }: MapMarksProps) {
  return (
    <ul class={marks.length <= namedMax ? 'marks named' : 'marks'} aria-label="Devices on the map">
      {marks.map(mark => (
        <li key={keyOf(mark)} style={{ transform: `translate(${mark.x}px, ${mark.y}px)` }}>
          <Mark mark={mark} onPress={onPress} />
        </li>
      ))}
    </ul>
  )
}

/** A mark stays the same element, and keeps the focus, as long as its first device does. */
function keyOf({ devices, size }: MergedMark): string {
  return `${size === 1 ? 'device' : 'devices'} ${devices[0]?.device}`
}

function Mark({ mark, onPress }: { mark: MergedMark; onPress: (mark: MergedMark) => void }) {
  const [device] = mark.devices
  if (mark.size === 1 && device !== undefined) return <DeviceMark {...device} />
  return (
    <button
      type="button"
      class={`mark ${worstState(mark.counts)}`}
      aria-label={markText(mark)}
      onClick={() => onPress(mark)}
    >
      <StateShape state={worstState(mark.counts)} />
      {countText(mark.size)}
    </button>
  )
}

function DeviceMark({ device, location_short, state }: FleetMap['marks'][number]['devices'][number]) {
  const place = location_short === '' ? '' : `, ${location_short}`
  return (
    <a class={`mark ${state}`} href={addressOf(devicePath(device))} aria-label={`${device}${place}: ${state}`}>
      <StateShape state={state} />
      <span class="name">{device}</span>
    </a>
  )
}
