/** How often a property is tried: a few times in `npm test`, and so often in test/long that rare cases come up. */

const isLong = process.env['LONG_SERIES'] === '1'

/** fast-check prints the seed of a run that fails. */
export function runs(few: number, many: number): { numRuns: number } {
  return { numRuns: isLong ? many : few }
}
