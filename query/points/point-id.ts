/** The id of a point: the whole seconds since 2000, and below them the number of its series. It sorts as time does. */

/** Numbers of series are below it. */
const seriesCount = 2 ** 21
const year2000Us = Date.UTC(2000, 0, 1) * 1000
const secondUs = 1_000_000

/** Where the row of a point is. */
export interface PointPlace {
  readonly timeUs: number
  readonly series: number
}

export function pointId({ timeUs, series }: PointPlace): number {
  return Math.floor((timeUs - year2000Us) / secondUs) * seriesCount + series
}

/** Of any whole number that a double holds exactly. */
export function placeOfId(id: number): PointPlace {
  const seconds = Math.floor(id / seriesCount)
  return { timeUs: year2000Us + seconds * secondUs, series: id - seconds * seriesCount }
}

/** The largest id that a point of this second can have. */
export function lastIdOf(timeUs: number): number {
  return pointId({ timeUs, series: seriesCount - 1 })
}
