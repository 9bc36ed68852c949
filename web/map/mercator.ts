/** The Mercator projection on a square whose sides are 1, with the north at the top. */

export interface Degrees {
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
export function metresPerPixel(y: number, side: number): number {
  return (equatorMetres * Math.cos((latitudeAt(y) * Math.PI) / 180)) / side
}
