/** The marks of a map: a device as a link to its page, several as a button that leads closer. */

import { countText } from '../../analytics/findings/value-words.ts'
import type { FleetMap } from '../../query/live/fleet-shape.ts'
import { addressOf } from '../client/address.ts'
import { devicePath } from '../client/routes.ts'
import { StateShape } from '../parts/state-badge.tsx'
import { type MergedMark, markText, worstState } from './merged-marks.ts'
import { type NamePlace, namePlaces } from './name-places.ts'

export interface MapMarksProps {
  marks: readonly MergedMark[]
  /** The map's width in CSS pixels. */
  width: number
  /** Undefined: marks are only looked at. */
  onPress: ((mark: MergedMark) => void) | undefined
}

export function MapMarks({ marks, width, onPress }: MapMarksProps) {
  const names = namePlaces(marks, width)
  return (
    <ul class="marks" aria-label="Devices on the map">
      {marks.map((mark, at) => (
        <li key={keyOf(mark)} style={{ transform: `translate(${mark.x}px, ${mark.y}px)` }}>
          <Mark mark={mark} name={names[at]} onPress={onPress} />
        </li>
      ))}
    </ul>
  )
}

/** A mark stays the same element, and keeps the focus, as long as its first device does. */
function keyOf({ devices, size }: MergedMark): string {
  return `${size === 1 ? 'device' : 'devices'} ${devices[0]?.device}`
}

interface MarkProps extends Pick<MapMarksProps, 'onPress'> {
  mark: MergedMark
  name: NamePlace | undefined
}

function Mark({ mark, name, onPress }: MarkProps) {
  const [device] = mark.devices
  if (name !== undefined && device !== undefined) return <DeviceMark {...device} {...name} isStill={!onPress} />
  if (onPress === undefined) {
    return (
      <span class={`mark ${worstState(mark.counts)}`} role="img" aria-label={markText(mark)}>
        <StateShape state={worstState(mark.counts)} />
        {countText(mark.size)}
      </span>
    )
  }
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

type DeviceMarkProps = FleetMap['marks'][number]['devices'][number] & NamePlace & { isStill: boolean }

function DeviceMark({ device, location_short, state, isLeft, hasRoom, isStill }: DeviceMarkProps) {
  const place = location_short === '' ? '' : `, ${location_short}`
  const text = `${device}${place}: ${state}`
  const shown = (
    <>
      <StateShape state={state} />
      <span class={`name${isLeft ? ' left' : ''}${hasRoom ? ' shown' : ''}`}>{device}</span>
    </>
  )
  return isStill ? (
    <span class={`mark ${state}`} role="img" aria-label={text}>
      {shown}
    </span>
  ) : (
    <a class={`mark ${state}`} href={addressOf(devicePath(device))} aria-label={text}>
      {shown}
    </a>
  )
}
