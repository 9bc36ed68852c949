/** Reads the extent of the devices first, then the marks of the visible window and the outlines of coasts and borders. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { feature, mesh, type Topology } from 'topojson-client'
import fineAddress from 'world-atlas/countries-50m.json?url'
import coarseAddress from 'world-atlas/countries-110m.json?url'
import type { FleetMap } from '../../query/live/fleet-shape.ts'
import { addressOf } from '../client/address.ts'
import { lastValue, type ResourceState } from '../client/resource-state.ts'
import { useRefreshed, useRested } from '../client/use-resource.ts'
import { boxText, fitted, type MapWindow, type Point, projected, type Size } from './map-window.ts'

const everyMs = 10_000
const restMs = 1_000

export interface ShownMap {
  /** Undefined until the first answer has the extent of the devices. */
  window: MapWindow | undefined
  /** The last answer, perhaps for an earlier window. */
  answer: FleetMap | undefined
  state: ResourceState<FleetMap>
  change(change: (window: MapWindow) => MapWindow): void
  /** Shows all devices. */
  fit(): void
}

/** `filter`: arguments for all requests, each behind a `&`; `changes`: another text says that the states of devices are others. */
export function useMap(filter: string, changes: string, size: Size): ShownMap {
  const [window, setWindow] = useState<MapWindow>()
  const last = useRef<FleetMap>()
  const box = useRested(window && boxText(window, size))
  const query = `${filter}${box === undefined ? '' : `&box=${box}`}`.slice(1)
  const isDrawn = size.width > 0
  const { state, refresh } = useRefreshed<FleetMap>(
    isDrawn ? addressOf(`/api/fleet/map${query === '' ? '' : `?${query}`}`) : undefined,
    { everyMs },
  )
  const found = lastValue(state)
  if (found !== undefined) last.current = found
  const answer = state.kind === 'failed' ? undefined : last.current
  const rested = useRested(changes, restMs)
  useEffect(refresh, [rested])
  const fit = () => {
    if (answer?.extent) setWindow(fitted(answer.extent, size))
  }
  useEffect(() => {
    if (window === undefined && isDrawn) fit()
  }, [answer, isDrawn])
  return { window, answer, state, change: change => setWindow(before => before && change(before)), fit }
}

/** Undefined until the first ones have come; `failed` where there are none to be had. */
export function useOutlines(side: number): Outlines | 'failed' | undefined {
  const [outlines, setOutlines] = useState<Outlines | 'failed'>()
  const address = outlinesAddress(side)
  useEffect(() => {
    let isWanted = true
    outlinesAt(address).then(
      found => isWanted && setOutlines(found),
      () => isWanted && setOutlines(before => before ?? 'failed'),
    )
    return () => {
      isWanted = false
    }
  }, [address])
  return outlines
}

interface Outlines {
  land: string
  borders: string
}

/** The side of the square of the projection in the paths: a unit is finer than the precision of the outlines. */
export const outlineSide = 100_000
/** From this side of the square in pixels on, the coarse outlines show corners. */
const fineSideMin = 5_000

const loaded = new Map<string, Promise<Outlines>>()

/** The address of the outlines with enough detail. */
function outlinesAddress(side: number): string {
  return side < fineSideMin ? coarseAddress : fineAddress
}

function outlinesAt(address: string): Promise<Outlines> {
  const known = loaded.get(address)
  if (known !== undefined) return known
  const loading = load(address)
  loaded.set(address, loading)
  // Another attempt may succeed.
  loading.catch(() => loaded.delete(address))
  return loading
}

async function load(address: string): Promise<Outlines> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`${address}: ${response.status}`)
  const topology = (await response.json()) as Topology
  const { land, countries } = topology.objects
  const polygons = feature(topology, land).features.flatMap(({ geometry }) => geometry.coordinates.flat())
  const lines = mesh(topology, countries, (a, b) => a !== b).coordinates
  return {
    land: polygons.map(ring => pathOf(aroundPole(unwrapped(ring)), 'Z')).join(''),
    borders: lines.map(line => pathOf(unwrapped(line), '')).join(''),
  }
}

type Line = (readonly [longitude: number, latitude: number])[]

/** Goes on beyond the 180th meridian instead of coming back from the other side. */
function unwrapped(line: Readonly<Line>): Line {
  let before = line[0]?.[0] ?? 0
  return line.map(([longitude, latitude]) => {
    before = longitude + 360 * Math.round((before - longitude) / 360)
    return [before, latitude]
  })
}

/** The ring of Antarctica goes once around: it is closed at the pole. */
function aroundPole(ring: Line): Line {
  const [first = 0, last = 0] = [ring[0]?.[0], ring.at(-1)?.[0]]
  return Math.abs(last - first) < 180 ? ring : [...ring, [last, -90], [first, -90]]
}

/** Lines beyond one edge of the map continue at the other one. */
function pathOf(line: Line, end: string): string {
  const longitudes = line.map(([longitude]) => longitude)
  const shifts = [0, ...(Math.max(...longitudes) > 180 ? [-360] : []), ...(Math.min(...longitudes) < -180 ? [360] : [])]
  const textAt = (shift: number) =>
    line.map(([longitude, latitude]) => textOf(projected({ latitude, longitude: longitude + shift }))).join('L')
  return shifts.map(shift => `M${textAt(shift)}${end}`).join('')
}

function textOf({ x, y }: Point): string {
  return `${(x * outlineSide).toFixed(1)} ${(y * outlineSide).toFixed(1)}`
}
