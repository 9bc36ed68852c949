/** Values of some time ago, with which a rule on a change compares: some of the readings of its window. */

/** Both in the order of time. */
export interface Samples {
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
}

const samplesMax = 12
/** With a sample each tenth of the window, twelve of them reach back further than the window. */
const spacingShare = 0.1
const ageShareMax = 1.25

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

/** With this reading, if it comes long enough after the last one that was kept. */
export function withSample(samples: Samples = noSamples, atMs: number, value: number, windowMs: number): Samples {
  const { timesMs, values } = samples
  const lastMs = timesMs.at(-1)
  if (lastMs !== undefined && atMs - lastMs < spacingShare * windowMs) return samples
  const from = Math.max(0, timesMs.length + 1 - samplesMax)
  return { timesMs: [...timesMs.slice(from), atMs], values: [...values.slice(from), value] }
}
