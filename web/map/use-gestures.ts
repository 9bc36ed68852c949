/** Moving and zooming a map: a drag, two fingers, the wheel and keys. */

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type MapWindow, moved, type Point, type Size, zoomed } from './map-window.ts'

export type ChangeWindow = (change: (window: MapWindow) => MapWindow) => void

/** Pixels. */
const keyStep = 80
const keyMoves: Record<string, readonly [number, number]> = {
  ArrowLeft: [keyStep, 0],
  ArrowRight: [-keyStep, 0],
  ArrowUp: [0, keyStep],
  ArrowDown: [0, -keyStep],
}
const keyZooms: Record<string, number> = { '+': 2, '=': 2, '-': 0.5 }
/** A press that moves by less is a click. */
const dragMin = 4

export function useGestures(place: RefObject<HTMLElement>, size: Size, change: ChangeWindow): void {
  const latest = useRef({ size, change })
  latest.current = { size, change }
  useEffect(() => {
    const element = place.current as HTMLElement
    const stops = [addKeys(element, latest), addWheel(element, latest), addPointers(element, latest)]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
}

type Latest = { readonly current: { size: Size; change: ChangeWindow } }

function addKeys(element: HTMLElement, latest: Latest): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { size, change } = latest.current
    const [dx, dy] = keyMoves[event.key] ?? []
    const factor = keyZooms[event.key]
    if (dx !== undefined && dy !== undefined) change(window => moved(window, dx, dy, size))
    else if (factor !== undefined) change(window => zoomed(window, factor, size))
    else return
    event.preventDefault()
  }
  element.addEventListener('keydown', press)
  return () => element.removeEventListener('keydown', press)
}

/** A wheel without Ctrl scrolls the page until the map has the focus. A touchpad's pinch arrives with Ctrl. */
function addWheel(element: HTMLElement, latest: Latest): () => void {
  const turn = (event: WheelEvent) => {
    if (!event.ctrlKey && !element.contains(document.activeElement)) return
    event.preventDefault()
    const { size, change } = latest.current
    const at = within(element, event)
    const factor = 2 ** (-event.deltaY / (event.ctrlKey ? 60 : 240))
    change(window => zoomed(window, factor, size, at))
  }
  element.addEventListener('wheel', turn, { passive: false })
  return () => element.removeEventListener('wheel', turn)
}

function within(element: HTMLElement, { clientX, clientY }: { clientX: number; clientY: number }): Point {
  const { left, top } = element.getBoundingClientRect()
  return { x: clientX - left, y: clientY - top }
}

/** One finger scrolls the page up and down, and moves the map to the sides; two do both on the map alone. */
function addPointers(element: HTMLElement, latest: Latest): () => void {
  const held = new Map<number, Point>()
  let travelled = 0
  const down = (event: PointerEvent) => {
    if (held.size === 2 || event.button !== 0) return
    if (held.size === 0) travelled = 0
    held.set(event.pointerId, within(element, event))
  }
  const move = (event: PointerEvent) => {
    const before = held.get(event.pointerId)
    if (before === undefined) return
    const now = within(element, event)
    travelled += Math.hypot(now.x - before.x, now.y - before.y)
    // The pointer is captured after a movement alone: a press on a mark is the mark's.
    if (travelled > dragMin && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId)
    held.set(event.pointerId, now)
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1]
    const { size, change } = latest.current
    if (other === undefined) change(window => moved(window, now.x - before.x, now.y - before.y, size))
    else change(window => pinched(window, { before, now, other }, size))
  }
  const up = (event: PointerEvent) => void held.delete(event.pointerId)
  // The end of a drag over a mark does not click the mark.
  const click = (event: MouseEvent) => {
    if (travelled <= dragMin) return
    travelled = 0
    event.preventDefault()
    event.stopPropagation()
  }
  element.addEventListener('pointerdown', down)
  element.addEventListener('pointermove', move)
  element.addEventListener('click', click, { capture: true })
  for (const name of ['pointerup', 'pointercancel'] as const) element.addEventListener(name, up)
  return () => {
    element.removeEventListener('pointerdown', down)
    element.removeEventListener('pointermove', move)
    element.removeEventListener('click', click, { capture: true })
    for (const name of ['pointerup', 'pointercancel'] as const) element.removeEventListener(name, up)
  }
}

/** The middle of the two fingers stays where it is on the map, and their distance zooms. */
function pinched(
  window: MapWindow,
  { before, now, other }: { before: Point; now: Point; other: Point },
  size: Size,
): MapWindow {
  const apart = (point: Point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y))
  const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }
  const shifted = moved(window, (now.x - before.x) / 2, (now.y - before.y) / 2, size)
  return zoomed(shifted, apart(now) / apart(before), size, middle)
}
