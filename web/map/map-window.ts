/** The visible part of a map: the centre on the projection's square and the square's width in pixels. */

import type { MapBox } from '../../query/live/fleet-shape.ts'

export interface MapWindow extends Point {
  /** The side of the square in CSS pixels. */
  side: number
}

export interface Size {
  width: number
  height: number
}

/** One pixel is about 15 cm at the equator. */
export const sideMax = 2 ** 28
/** A single place is shown with its surroundings, at about 20 m per pixel. */
const fittedSideMax = 2 ** 21
/** Pixels around fitted marks. */
const margin = 48

/** The box as large as it fits. */
export function fitted({ west, south, east, north }: MapBox, size: Size, max = fittedSideMax): MapWindow {
  const [a, b] = [projected({ latitude: north, longitude: west }), projected({ latitude: south, longitude: east })]
  const room = (length: number) => Math.max(1, length - 2 * margin)
  const side = Math.min(room(size.width) / (b.x - a.x), room(size.height) / (b.y - a.y), max)
  return bounded({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, side }, size)
}

/** No larger than the square, and within it. */
export function bounded({ x, y, side }: MapWindow, { width, height }: Size): MapWindow {
  const held = Math.min(sideMax, Math.max(side, width, height))
  const within = (value: number, length: number) => Math.min(1 - length / 2 / held, Math.max(length / 2 / held, value))
  return { x: within(x, width), y: within(y, height), side: held }
}

/** Moves the window by pixels. */
export function moved({ x, y, side }: MapWindow, dx: number, dy: number, size: Size): MapWindow {
  return bounded({ x: x - dx / side, y: y - dy / side, side }, size)
}

/** `at`: the pixel that stays where it is. */
export function zoomed(window: MapWindow, factor: number, size: Size, at = middleOf(size)): MapWindow {
  const side = Math.min(sideMax, Math.max(window.side * factor, size.width, size.height))
  const [dx, dy] = [at.x - size.width / 2, at.y - size.height / 2]
  const [x, y] = [window.x + dx / window.side - dx / side, window.y + dy / window.side - dy / side]
  return bounded({ x, y, side }, size)
}

const middleOf = ({ width, height }: Size): Point => ({ x: width / 2, y: height / 2 })

/** The position of a point in pixels from the left and the top. */
export function pixelOf({ x, y }: Point, window: MapWindow, { width, height }: Size): Point {
  return { x: (x - window.x) * window.side + width / 2, y: (y - window.y) * window.side + height / 2 }
}

/** The box as the service expects it; at the edges of the square it reaches the poles. */
export function boxText({ x, y, side }: MapWindow, { width, height }: Size): string {
  const [left, right] = [x - width / 2 / side, x + width / 2 / side]
  const [top, bottom] = [y - height / 2 / side, y + height / 2 / side]
  const edge = 1e-9
  const [south, north] = [bottom > 1 - edge ? -90 : latitudeAt(bottom), top < edge ? 90 : latitudeAt(top)]
  const degrees = (value: number, max: number) => Math.max(-max, Math.min(max, value)).toFixed(6)
  return [
    degrees(longitudeAt(left), 180),
    degrees(south, 90),
    degrees(longitudeAt(right), 180),
    degrees(north, 90),
  ].join()
}

const barWidthMax = 120

/** The longest of 1, 2 and 5 times a power of ten that fits. */
export function scaleBar({ y, side }: MapWindow): { width: number; text: string } {
  const perPixel = metresPerPixel(y, side)
  const longest = perPixel * barWidthMax
  const power = 10 ** Math.floor(Math.log10(longest))
  const metres = power * ([5, 2].find(factor => factor * power <= longest) ?? 1)
  const text = metres >= 1000 ? `${metres / 1000}\u202fkm` : `${Number(metres.toPrecision(1))}\u202fm`
  return { width: metres / perPixel, text }
}

interface Degrees {
  latitude: number
  longitude: number
}

export interface Point {
  x: number
  y: number
}

/** The edge of the square. Points beyond it are placed at the edge. */
const latitudeMax = 85.051_128_78
const equatorMetres = 40_075_017

export function projected({ latitude, longitude }: Degrees): Point {
  const bounded = Math.max(-latitudeMax, Math.min(latitudeMax, latitude))
  const radians = (bounded * Math.PI) / 180
  return { x: (longitude + 180) / 360, y: 0.5 - Math.log(Math.tan(Math.PI / 4 + radians / 2)) / (2 * Math.PI) }
}

export function longitudeAt(x: number): number {
  return 360 * x - 180
}

export function latitudeAt(y: number): number {
  return (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI
}

/** Metres per pixel at this height of a square whose side has so many pixels. */
function metresPerPixel(y: number, side: number): number {
  return (equatorMetres * Math.cos((latitudeAt(y) * Math.PI) / 180)) / side
}
