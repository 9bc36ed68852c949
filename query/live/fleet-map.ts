/** The devices of the fleet by place: counted by state in the cells of a grid, with the names of some. */

import type { DeviceState, LiveDevice } from './device-state.ts'
import { type FleetOrder, walk } from './fleet-order.ts'
import type { FleetMap, MapBox } from './fleet-shape.ts'
import { type LiveState, liveStates, noCounts } from './live-state.ts'

interface Place {
  readonly latitude: number
  readonly longitude: number
}

/** The smallest box of degrees around some places. */
class Extent {
  #west = Number.POSITIVE_INFINITY
  #south = Number.POSITIVE_INFINITY
  #east = Number.NEGATIVE_INFINITY
  #north = Number.NEGATIVE_INFINITY

  add(latitude: number, longitude: number): void {
    if (longitude < this.#west) this.#west = longitude
    if (longitude > this.#east) this.#east = longitude
    if (latitude < this.#south) this.#south = latitude
    if (latitude > this.#north) this.#north = latitude
  }

  /** Null without any place. */
  box(): MapBox | null {
    const box = { west: this.#west, south: this.#south, east: this.#east, north: this.#north }
    return box.west > box.east ? null : box
  }
}

export interface FleetMapRequest {
  /** Devices must have one of these states. */
  readonly states: readonly LiveState[]
  /** A part of the name or of the place; undefined for all. */
  readonly search: string | undefined
  /** Only devices in this box get marks; undefined for all. */
  readonly box: MapBox | undefined
}

/** Cells along the longer side of the requested box: at most 25 by 25, as they do not begin at its edge. */
const cellsPerSide = 24
/** Degrees. Devices closer than some centimetres share a mark. */
const cellMin = 2 ** -20
/** The most devices that an answer names, in equal parts by mark, and the most of one mark. */
const namedMax = 2000
const namedMin = 3

class Cell {
  readonly extent = new Extent()
  readonly counts = noCounts()
  /** First devices by name, for each state. */
  readonly devices: Record<LiveState, LiveDevice[]> = { silent: [], late: [], never: [], fresh: [], off: [] }
  latitudes = 0
  longitudes = 0
  size = 0

  add({ device, state }: DeviceState, { latitude, longitude }: Place): void {
    this.extent.add(latitude, longitude)
    this.latitudes += latitude
    this.longitudes += longitude
    this.size++
    this.counts[state]++
    const listed = this.devices[state]
    if (listed.length < namedMax) listed.push(device)
  }
}

/** Builds the map during a walk. A device that moves meanwhile stays where the walk found it. */
export async function mapOf(
  order: FleetOrder,
  request: FleetMapRequest,
  signal: AbortSignal,
): Promise<Omit<FleetMap, 'generated_at'>> {
  const isWanted = wantedBy(request)
  const all = new Extent()
  const unplaced = noCounts()
  const measure = (devices: readonly DeviceState[]) => {
    for (const found of devices) {
      if (!isWanted(found)) continue
      const place = placeOf(found)
      if (place === undefined) unplaced[found.state]++
      else all.add(place.latitude, place.longitude)
    }
  }
  await walk(order, undefined, measure, signal)
  const extent = all.box()
  const cells = await cellsIn(order, isWanted, request.box ?? extent, signal)
  const named = Math.max(namedMin, Math.floor(namedMax / Math.max(1, cells.length)))
  return { extent, marks: cells.map(cell => markOf(cell, named)), unplaced }
}

function wantedBy({ states, search }: FleetMapRequest): (found: DeviceState) => boolean {
  const wanted = new Set(states)
  const text = search?.normalize('NFC').toLowerCase()
  return found => wanted.has(found.state) && (text === undefined || found.text.includes(text))
}

async function cellsIn(
  order: FleetOrder,
  isWanted: (found: DeviceState) => boolean,
  box: MapBox | null,
  signal: AbortSignal,
): Promise<Cell[]> {
  if (box === null) return []
  const { west, south, east, north } = box
  const side = cellSide(Math.max(east - west, north - south))
  const [left, bottom] = [Math.floor(west / side), Math.floor(south / side)]
  const cells = new Map<number, Cell>()
  const collect = (devices: readonly DeviceState[]) => {
    for (const found of devices) {
      const place = isWanted(found) ? placeOf(found) : undefined
      if (place === undefined || !isIn(box, place)) continue
      const column = Math.floor(place.longitude / side) - left
      const key = column * 2 * (cellsPerSide + 1) + Math.floor(place.latitude / side) - bottom
      let cell = cells.get(key)
      if (cell === undefined) {
        cell = new Cell()
        cells.set(key, cell)
      }
      cell.add(found, place)
    }
  }
  await walk(order, undefined, collect, signal)
  return [...cells.values()].sort((a, b) => b.size - a.size)
}

/** A power of two, so that the cells stay in place while a map is moved. */
function cellSide(length: number): number {
  return Math.max(cellMin, 2 ** Math.ceil(Math.log2(length / cellsPerSide)))
}

function isIn({ west, south, east, north }: MapBox, { latitude, longitude }: Place): boolean {
  return longitude >= west && longitude <= east && latitude >= south && latitude <= north
}

function placeOf({ device }: DeviceState): Place | undefined {
  const { latitude, longitude } = device
  return latitude === null || longitude === null ? undefined : { latitude, longitude }
}

function markOf(cell: Cell, named: number): FleetMap['marks'][number] {
  const { size, counts, latitudes, longitudes, extent, devices } = cell
  const worstFirst = liveStates.flatMap(state =>
    devices[state].slice(0, named).map(({ name, location_short }) => ({ device: name, location_short, state })),
  )
  return {
    latitude: latitudes / size,
    longitude: longitudes / size,
    extent: extent.box() as MapBox,
    counts,
    devices: worstFirst.slice(0, named),
  }
}
