/** Values of some time ago, with which a rule on a change compares: some of the readings of its window. */

/** Both in the order of time. */
export interface Samples {
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
}

/** The first value of each tenth of a window is kept. */
const cellShare = 0.1
const ageShareMax = 1.25
/** Number of tenths between now and the oldest compared value, rounded up. */
const samplesMax = 14

/** Length of history that makes the result independent of the start of evaluation. */
export function memoryMs(windowMs: number): number {
  return (ageShareMax + cellShare) * windowMs
}

const noSamples: Samples = { timesMs: [], values: [] }

/** The newest value that is as old as the window, and not much older; NaN without one. */
export function referenceOf({ timesMs, values }: Samples = noSamples, atMs: number, windowMs: number): number {
  for (let at = timesMs.length - 1; at >= 0; at--) {
    const ageMs = atMs - (timesMs[at] as number)
    if (ageMs < windowMs) continue
    return ageMs <= ageShareMax * windowMs ? (values[at] as number) : Number.NaN
  }
  return Number.NaN
}

/**
 * Adds this reading if it is the first one of its tenth of a window. Tenths are counted from 1970, whenever the first
 * reading came.
 */
export function withSample(samples: Samples = noSamples, atMs: number, value: number, windowMs: number): Samples {
  const { timesMs, values } = samples
  const lastMs = timesMs.at(-1)
  const cellMs = cellShare * windowMs
  if (lastMs !== undefined && Math.floor(atMs / cellMs) === Math.floor(lastMs / cellMs)) return samples
  const from = Math.max(0, timesMs.length + 1 - samplesMax)
  // Arrays of just this length: those that a spread makes have room for twice as much.
  return { timesMs: timesMs.slice(from).concat(atMs), values: values.slice(from).concat(value) }
}
