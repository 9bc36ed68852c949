/** Points in columns of numbers, as they are stored, and their ids. */

export interface PointRows {
  readonly length: number
  readonly timesUs: Float64Array
  readonly series: Float64Array
  readonly values: Float64Array
  /** Index in `pointUnits`. */
  readonly units: Float64Array
  readonly storedUs: Float64Array
}

/** Expects the column order of a statement that reads points. */
export function pointRows(columns: readonly Float64Array[]): PointRows {
  const [timesUs, series, values, unitNumbers, storedUs] = columns as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  return { length: timesUs.length, timesUs, series, values, units: unitNumbers, storedUs }
}

export function pickRows(rows: PointRows, positions: ArrayLike<number>): PointRows {
  const pick = (column: Float64Array) => {
    const picked = new Float64Array(positions.length)
    for (let index = 0; index < positions.length; index++) picked[index] = column[positions[index] as number] as number
    return picked
  }
  return pointRows([rows.timesUs, rows.series, rows.values, rows.units, rows.storedUs].map(pick))
}

/** The id of a point: its whole seconds since 2000, followed by the number of its series. Ids sort by time. */

/** Series numbers are below it. */
const seriesCount = 2 ** 21
const year2000Us = Date.UTC(2000, 0, 1) * 1000
const secondUs = 1_000_000

interface PointPlace {
  readonly timeUs: number
  readonly series: number
}

export function pointId({ timeUs, series }: PointPlace): number {
  return Math.floor((timeUs - year2000Us) / secondUs) * seriesCount + series
}

/** Accepts any whole number that a double holds exactly. */
export function placeOfId(id: number): PointPlace {
  const seconds = Math.floor(id / seriesCount)
  return { timeUs: year2000Us + seconds * secondUs, series: id - seconds * seriesCount }
}

/** The largest possible id of a point in this second. */
export function lastIdOf(timeUs: number): number {
  return pointId({ timeUs, series: seriesCount - 1 })
}
