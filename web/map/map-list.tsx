/** The map's content as a list, by mark, with the named devices. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { countOf } from '../../analytics/findings/value-words.ts'
import { addressOf } from '../client/address.ts'
import { devicePath } from '../client/routes.ts'
import { StateBadge } from '../parts/state-badge.tsx'
import { type MergedMark, markText } from './merged-marks.ts'

export interface MapListProps {
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
      <summary>{countOf(total, 'device')} within the map, as a list</summary>
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
        {more === 0 ? null : <li>{countOf(more, 'more device')}: zoom in to see their names.</li>}
      </ul>
    </>
  )
}
