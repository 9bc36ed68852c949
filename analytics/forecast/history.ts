/** The input of a forecast. */

export interface History {
  /** Hours up to the origin, complete. */
  readonly values: Float64Array
  /** Local hours 0 … 23 of these and of the hours ahead. */
  readonly localHours: Uint8Array
}

export const horizonHours = 48

export function hoursAhead({ values, localHours }: History): Uint8Array {
  return localHours.subarray(values.length, values.length + horizonHours)
}

/** The index behind the last value; NaN are missing. */
export function knownEnd(values: Float64Array): number {
  return values.findLastIndex(value => !Number.isNaN(value)) + 1
}
