/** The marks of a map, and its content as a list. */

import { useEffect, useRef, useState } from 'preact/hooks'
import type { FleetMap } from '../../query/live/fleet-shape.ts'
import { addressOf } from '../client/address.ts'
import { devicePath } from '../client/routes.ts'
import { StateBadge, StateShape } from '../parts/marks.tsx'
import { stateNames } from '../text/kind-words.ts'
import { countText, t, tn } from '../words/words.ts'
import { type MergedMark, markText, type NamePlace, namePlaces, worstState } from './merged-marks.ts'

interface MapMarksProps {
  marks: readonly MergedMark[]
  /** The map's width in CSS pixels. */
  width: number
  /** Undefined: marks are only looked at. */
  onPress: ((mark: MergedMark) => void) | undefined
}

export function MapMarks({ marks, width, onPress }: MapMarksProps) {
  const names = namePlaces(marks, width)
  return (
    <ul class="marks" aria-label={t('Devices on the map')}>
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
  const text = `${device}${place}: ${stateNames[state]}`
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

interface MapListProps {
  marks: readonly MergedMark[]
  /** A mark that was pressed and does not come apart: the list opens at it. */
  chosen: MergedMark | undefined
}

export function MapList({ marks, chosen }: MapListProps) {
  const [isOpen, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (chosen !== undefined) setOpen(true)
  }, [chosen])
  useEffect(() => {
    if (!isOpen || chosen === undefined) return
    const heading = place.current?.querySelector<HTMLElement>(`[data-first="${CSS.escape(firstOf(chosen))}"]`)
    heading?.focus()
  }, [chosen, isOpen])
  const total = marks.reduce((sum, { size }) => sum + size, 0)
  return (
    <details class="card map-list" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {tn(total, '{count} device within the map, as a list', '{count} devices within the map, as a list')}
      </summary>
      {isOpen ? (
        <div ref={place}>
          {marks.map(mark => (
            <Devices key={firstOf(mark)} mark={mark} />
          ))}
        </div>
      ) : null}
    </details>
  )
}

function firstOf({ devices }: MergedMark): string {
  return devices[0]?.device ?? ''
}

function Devices({ mark }: { mark: MergedMark }) {
  const more = mark.size - mark.devices.length
  return (
    <>
      {mark.size === 1 ? null : (
        <h2 tabIndex={-1} data-first={firstOf(mark)}>
          {markText(mark)}
        </h2>
      )}
      <ul>
        {mark.devices.map(({ device, location_short, state }) => (
          <li key={device}>
            <StateBadge state={state} /> <a href={addressOf(devicePath(device))}>{device}</a> {location_short}
          </li>
        ))}
        {more === 0 ? null : (
          <li>
            {tn(
              more,
              '{count} more device: zoom in to see their names.',
              '{count} more devices: zoom in to see their names.',
            )}
          </li>
        )}
      </ul>
    </>
  )
}
