/** The marks of an answer as a map has them: those that would overlap are one, and the names of devices have places beside them. */

import type { FleetMap, MapBox } from '../../query/live/fleet-shape.ts'
import { type DeviceState, deviceStates, stateNames } from '../text/kind-words.ts'
import { countText, tn } from '../words/words.ts'
import { type MapWindow, type Point, pixelOf, projected, type Size } from './map-window.ts'

type Mark = FleetMap['marks'][number]

export interface MergedMark extends Point {
  counts: Record<DeviceState, number>
  size: number
  extent: MapBox
  /** Worst first: all, or the first of them. */
  devices: Mark['devices']
}

/** CSS pixels between the centres of two marks. */
const distanceMin = 34

/** `marks` are sorted, largest first. Marks beyond the map's edge are left out. */
export function mergedMarks(marks: readonly Mark[], window: MapWindow, size: Size): MergedMark[] {
  const merged: MergedMark[] = []
  for (const mark of marks) {
    const at = pixelOf(projected(mark), window, size)
    if (at.x < 0 || at.y < 0 || at.x > size.width || at.y > size.height) continue
    const near = merged.find(({ x, y }) => Math.hypot(x - at.x, y - at.y) < distanceMin)
    if (near === undefined) merged.push({ ...at, ...mark, size: sizeOf(mark.counts) })
    else merge(near, mark)
  }
  return merged
}

function merge(into: MergedMark, { counts, extent, devices }: Mark): void {
  into.counts = Object.fromEntries(
    deviceStates.map(state => [state, into.counts[state] + counts[state]]),
  ) as Mark['counts']
  into.size += sizeOf(counts)
  into.extent = {
    west: Math.min(into.extent.west, extent.west),
    south: Math.min(into.extent.south, extent.south),
    east: Math.max(into.extent.east, extent.east),
    north: Math.max(into.extent.north, extent.north),
  }
  const rank = ({ state }: Mark['devices'][number]) => deviceStates.indexOf(state)
  into.devices = [...into.devices, ...devices].sort((a, b) => rank(a) - rank(b))
}

export function sizeOf(counts: Mark['counts']): number {
  return deviceStates.reduce((sum, state) => sum + counts[state], 0)
}

export function worstState(counts: Mark['counts']): DeviceState {
  return deviceStates.find(state => counts[state] > 0) ?? 'off'
}

/** `5 devices: 1 silent, 4 fresh`. */
export function markText({ counts, size }: Pick<MergedMark, 'counts' | 'size'>): string {
  const states = deviceStates
    .filter(state => counts[state] > 0)
    .map(state => `${countText(counts[state])} ${stateNames[state]}`)
  return `${tn(size, '{count} device', '{count} devices')}: ${states.join(', ')}`
}

export interface NamePlace {
  isLeft: boolean
  /** False: the name shows only while its mark is pointed at or has the focus. */
  hasRoom: boolean
}

/** Up to this number of marks, all have names. */
const namedMax = 12
/** CSS pixels. */
const characterWidth = 7.5
const paddingWidth = 12
const markRadius = 18
const lineHalf = 11

interface Box {
  left: number
  right: number
  y: number
}

/** Places have the order of the marks. Undefined for a mark of several devices, which shows a number. */
export function namePlaces(marks: readonly MergedMark[], mapWidth: number): (NamePlace | undefined)[] {
  const taken: Box[] = marks.map(({ x, y }) => ({ left: x - markRadius, right: x + markRadius, y }))
  return marks.map(({ x, y, size, devices }) => {
    const name = devices[0]?.device
    if (size !== 1 || name === undefined) return undefined
    const width = markRadius + paddingWidth + characterWidth * name.length
    const isLeft = x + width > mapWidth && x - width >= 0
    const box = isLeft ? { left: x - width, right: x - markRadius, y } : { left: x + markRadius, right: x + width, y }
    const hasRoom = marks.length <= namedMax && !taken.some(other => overlap(box, other))
    if (hasRoom) taken.push(box)
    return { isLeft, hasRoom }
  })
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && Math.abs(a.y - b.y) < markRadius + lineHalf
}
