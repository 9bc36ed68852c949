/** Measures how the cost of a function grows with the length of its input, in processor time of this thread. */

/** Lengths are a factor of 8 apart, so linear is 8 and quadratic 64. */
export const growthMax = 40

const factor = 8
const repeats = 3

export interface GrowthScale {
  lengthMax: number
  /** The maximum time of the long input at which its growth does not matter. */
  negligibleMs: number
}

/**
 * The ratio of the costs of a long and a short input, or 0 if they are too small to compare. The minimum of several
 * runs excludes other load on the machine.
 */
export function growthOf<Input>(
  { lengthMax, negligibleMs }: GrowthScale,
  inputOf: (length: number) => Input,
  run: (input: Input) => void,
): number {
  const long = inputOf(lengthMax)
  if (costUs(long, run) < negligibleMs * 1000) return 0
  const longUs = leastUs(long, run)
  if (longUs < negligibleMs * 1000) return 0
  return longUs / Math.max(1, leastUs(inputOf(lengthMax / factor), run))
}

function leastUs<Input>(input: Input, run: (input: Input) => void): number {
  return Math.min(...Array.from({ length: repeats }, () => costUs(input, run)))
}

function costUs<Input>(input: Input, run: (input: Input) => void): number {
  const before = process.threadCpuUsage()
  run(input)
  const { user, system } = process.threadCpuUsage(before)
  return user + system
}
