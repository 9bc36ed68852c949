/** How the cost of a function grows with the length of its input, in processor time of this thread. */

/** Lengths are a factor of 8 apart, so linear is 8 and quadratic 64. */
export const growthMax = 40

const factor = 8
const repeats = 3

export interface GrowthScale {
  lengthMax: number
  /** What the long input takes at most where its cost is not worth a comparison. */
  negligibleMs: number
}

/**
 * Cost of a long input by that of a short one, or 0 where it is too small to tell. The smallest of several runs counts,
 * so that other load on the machine plays no part.
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
