/** The devices that have coordinates, on a map. */

import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { noticeOf } from '../client/resource-state.ts'
import { useSize } from '../client/screen.ts'
import { MapList, MapMarks } from './map-marks.tsx'
import { fitted, type MapWindow, type Size, scaleBar, sideMax, zoomed } from './map-window.ts'
import { type MergedMark, mergedMarks, sizeOf } from './merged-marks.ts'
import { useGestures } from './use-gestures.ts'
import { outlineSide, type ShownMap, useMap, useOutlines } from './use-map.ts'
import './map.css'
import { t, tn } from '../words/words.ts'

export interface FleetMapProps {
  /** Arguments of the request, each behind a `&`. */
  filter: string
  /** Another text says that the states of devices are others. */
  changes: string
  /** True for a map without buttons and moves that always shows all devices. */
  isStill?: boolean
}

export function FleetMap({ filter, changes, isStill = false }: FleetMapProps) {
  const { place, size } = useSize()
  const map = useMap(filter, changes, size)
  const { window, answer } = map
  const marks = useMemo(
    () => (window === undefined || answer === undefined ? [] : mergedMarks(answer.marks, window, size)),
    [answer, window, size],
  )
  const [chosen, setChosen] = useState<MergedMark>()
  useGestures(place, size, isStill ? () => undefined : map.change)
  useEffect(() => {
    if (isStill) map.fit()
  }, [isStill, JSON.stringify(answer?.extent), size])
  useKeptFocus(place, marks)
  const press = (mark: MergedMark) => {
    if (window === undefined) return
    const next = fitted(mark.extent, size, sideMax)
    // Devices at the same place stay one mark at any zoom.
    if (window.side < sideMax && next.side > window.side) map.change(() => next)
    else setChosen(mark)
  }
  return (
    <section class="map-section" aria-label={t('Map of the devices')}>
      <div class="map" ref={place} tabIndex={isStill ? undefined : -1}>
        {window === undefined ? null : <Outline window={window} size={size} />}
        <MapMarks marks={marks} width={size.width} onPress={isStill ? undefined : press} />
        {window === undefined || isStill ? null : <Controls map={map} window={window} size={size} />}
        {window === undefined ? null : <ScaleBar window={window} />}
      </div>
      <p class="map-note" role="status">
        {sentenceOf(map)}
      </p>
      {isStill ? null : (
        <>
          <p class="map-note">
            {t(
              'Mercator projection. Outlines by Natural Earth, simplified. Drag, or press the arrow keys, + and −; with Ctrl, or once the map has the focus, the wheel zooms. On a touch screen two fingers move and zoom it.',
            )}
          </p>
          <MapList marks={marks} chosen={chosen} />
        </>
      )}
    </section>
  )
}

/** A removed mark gives its focus to the first mark, or to the map while it has none, so that keys go on to move the map. */
function useKeptFocus(place: RefObject<HTMLElement>, marks: readonly MergedMark[]): void {
  // Read before the marks change: the browser gives the focus of a removed element to the body.
  const hadFocus = place.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    if (!hadFocus || document.activeElement !== document.body) return
    const mark = place.current?.querySelector<HTMLElement>('.marks :is(a, button)')
    const next = mark ?? place.current
    next?.focus({ preventScroll: true })
  }, [marks])
}

function sentenceOf({ answer, state }: ShownMap): string {
  if (state.kind === 'failed')
    return t('The map cannot be shown: {reason}.', { reason: noticeOf(state) || t('the service does not answer') })
  if (answer === undefined) return t('The map is loading.')
  const unplaced = sizeOf(answer.unplaced)
  if (answer.extent === null) {
    return unplaced === 0
      ? t('No device matches.')
      : t('These devices have no coordinates: administrators add them at Devices.')
  }
  return unplaced === 0
    ? ''
    : tn(
        unplaced,
        '{count} device without coordinates is not on the map.',
        '{count} devices without coordinates are not on the map.',
      )
}

function Outline({ window: { x, y, side }, size: { width, height } }: { window: MapWindow; size: Size }) {
  const outlines = useOutlines(side)
  if (outlines === undefined) return null
  if (outlines === 'failed') return <p class="map-failed">{t('The outlines could not be loaded.')}</p>
  const factor = side / outlineSide
  const transform = `translate(${width / 2 - x * side} ${height / 2 - y * side}) scale(${factor})`
  return (
    <svg class="outlines" width={width} height={height} aria-hidden="true">
      <g transform={transform}>
        <path class="land" d={outlines.land} />
        <path class="borders" d={outlines.borders} />
      </g>
    </svg>
  )
}

function Controls({ map, window, size }: { map: ShownMap; window: MapWindow; size: Size }) {
  const isSmallest = window.side <= Math.max(size.width, size.height)
  return (
    <div class="map-buttons">
      <button
        type="button"
        aria-label={t('Zoom in')}
        disabled={window.side >= sideMax}
        onClick={() => map.change(one => zoomed(one, 2, size))}
      >
        +
      </button>
      <button
        type="button"
        aria-label={t('Zoom out')}
        disabled={isSmallest}
        onClick={() => map.change(one => zoomed(one, 0.5, size))}
      >
        −
      </button>
      <button type="button" class="fit" onClick={map.fit}>
        {t('Show all')}
      </button>
    </div>
  )
}

function ScaleBar({ window }: { window: MapWindow }) {
  const { width, text } = scaleBar(window)
  return (
    <div class="scale-bar" style={{ width: `${width}px` }}>
      {text}
    </div>
  )
}
