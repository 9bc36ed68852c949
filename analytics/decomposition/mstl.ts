/**
 * MSTL: a series with several seasons. Each is sought by STL in what the others leave, the shortest first; the second
 * round has for each the others that the first one found.
 *
 * The same numbers as `statsmodels.tsa.seasonal.MSTL(x, periods, windows, iterate=rounds, stl_kwargs={'robust': …}).fit()`.
 * Source: Bandara, Hyndman and Bergmeir, "MSTL", arXiv 2107.13462 (2021).
 */

import { decompose, type Stl, type StlOptions } from './stl.ts'

/**
 * Of a complete series (no NaN), with the seasons from the shortest to the longest: the last STL of each. `seasonal` is that
 * season; `trend` and `remainder` of the longest are those of the whole, and with all seasons add up to the series. Throws
 * a RangeError when the series has less than two of the longest.
 */
export function decomposeSeasons(
  values: Float64Array,
  seasons: readonly StlOptions[],
  rounds = 2,
  scaleMin = 0,
): Stl[] {
  const rest = values.slice()
  const found: Stl[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [index, season] of seasons.entries()) {
      addTo(rest, found[index]?.seasonal, 1)
      const part = decompose(rest, season, scaleMin)
      addTo(rest, part.seasonal, -1)
      found[index] = part
    }
  }
  return found
}

function addTo(values: Float64Array, seasonal: Float64Array | undefined, sign: 1 | -1): void {
  if (seasonal === undefined) return
  for (let i = 0; i < values.length; i++) (values[i] as number) += sign * (seasonal[i] as number)
}
