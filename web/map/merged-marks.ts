/** The marks of an answer as a map has them: those that would overlap are one. */

import { countOf, countText } from '../../analytics/findings/value-words.ts'
import type { FleetMap, MapBox } from '../../query/live/fleet-shape.ts'
import { type DeviceState, deviceStates } from '../client/device-states.ts'
import { type MapWindow, pixelOf, type Size } from './map-window.ts'
import { type Point, projected } from './mercator.ts'

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
  const states = deviceStates.filter(state => counts[state] > 0).map(state => `${countText(counts[state])} ${state}`)
  return `${countOf(size, 'device')}: ${states.join(', ')}`
}
