/** Points in columns of numbers, as they are stored. */

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
