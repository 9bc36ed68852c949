/** Holm's step-down test (1979): of many p-values, it finds those that are significant jointly. */

/**
 * One result for each entry of `pValues`: the hypothesis is rejected, with the chance of any false rejection at most
 * `level`. The i-th smallest of m is compared with level/(m − i + 1), up to the first that fails. Null means untested
 * and is not counted.
 */
export function holmSignificant(pValues: readonly (number | null)[], level = 0.05): boolean[] {
  const significant = pValues.map(() => false)
  const tests = pValues.flatMap((p, place) => (p === null ? [] : [{ p, place }])).sort((a, b) => a.p - b.p)
  for (const [rank, { p, place }] of tests.entries()) {
    if (!(p <= level / (tests.length - rank))) break
    significant[place] = true
  }
  return significant
}
