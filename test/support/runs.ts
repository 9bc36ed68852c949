/** The number of tries of a property: a few from a fixed seed in `npm test`, and often from any seed in test/long. */

const isLong = process.env['LONG_SERIES'] === '1'
const fixedSeed = 20_261_129

/** fast-check prints the seed of a run that fails. */
export function runs(few: number, many: number): { numRuns: number; seed?: number } {
  return isLong ? { numRuns: many } : { numRuns: few, seed: fixedSeed }
}
