/** The samples of a metric without missing ones. */

export interface Samples {
  readonly timesMs: Float64Array
  readonly values: Float64Array
}

/** Drops the indexes where the value is NaN; returns the same arrays when none is missing. */
export function presentOf(timesMs: Float64Array, values: Float64Array): Samples {
  let missing = 0
  for (let index = 0; index < timesMs.length; index++) if (Number.isNaN(values[index] as number)) missing++
  if (missing === 0) return { timesMs, values }
  const present = {
    timesMs: new Float64Array(timesMs.length - missing),
    values: new Float64Array(timesMs.length - missing),
  }
  let count = 0
  for (let index = 0; index < timesMs.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    present.timesMs[count] = timesMs[index] as number
    present.values[count++] = value
  }
  return present
}

/** Converts a missing number for JSON: `JSON.stringify` would do the same, but silently. */
export function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
