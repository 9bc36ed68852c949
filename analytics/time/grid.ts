/**
 * The grid that feeds every spectrum and correlation: cell i holds the mean of the samples in [iΔ, (i + 1)Δ) since
 * 1970, NaN when there is none. pandas: `s.resample(f'{Δ}s', origin='epoch').mean()`.
 */

export const gridStepsSeconds: readonly number[] = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200]
const stepsMs = gridStepsSeconds.map(seconds => seconds * 1000)
/** 2^17: with the padding of an autocorrelation a transform still has at most 2^18 points. */
const cellsMax = 131_072

export interface GridFrame {
  readonly stepMs: number
  /** The start of cell 0, a multiple of the step. */
  readonly startMs: number
  readonly cells: number
}

/**
 * The smallest step that is not finer than the device's interval (0.95 of it allows for a clock that runs fast) and
 * cuts [firstMs, lastMs] into few enough cells; half a day when none is. Without a known interval only the number of
 * cells matters.
 */
export function gridStepMs(expectedMs: number | null, firstMs: number, lastMs: number): number {
  const stepMinMs = 0.95 * (expectedMs ?? 0)
  const fits = (stepMs: number) => stepMs >= stepMinMs && frameOf(firstMs, lastMs, stepMs).cells <= cellsMax
  return stepsMs.find(fits) ?? (stepsMs.at(-1) as number)
}

/** The cells from the first sample's to the last sample's. */
export function frameOf(firstMs: number, lastMs: number, stepMs: number): GridFrame {
  const firstCell = Math.floor(firstMs / stepMs)
  return { stepMs, startMs: firstCell * stepMs, cells: Math.floor(lastMs / stepMs) - firstCell + 1 }
}

/** One metric's cell means; samples outside the frame and NaN are ignored. Times ascend. */
export function binMeans(timesMs: Float64Array, values: Float64Array, frame: GridFrame): Float64Array<ArrayBuffer> {
  const { stepMs, startMs, cells } = frame
  const means = new Float64Array(cells).fill(Number.NaN)
  let cell = -1
  let cellEndMs = Number.NEGATIVE_INFINITY
  let count = 0
  let first = 0
  let sum = 0
  for (let index = 0; index < timesMs.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    const timeMs = timesMs[index] as number
    if (timeMs >= cellEndMs) {
      cell = Math.floor((timeMs - startMs) / stepMs)
      cellEndMs = startMs + (cell + 1) * stepMs
      count = 0
      first = value
      sum = 0
    }
    count++
    // Distances from the cell's first value keep the digits, and keep the mean of equal values equal to them.
    sum += value - first
    if (cell >= 0 && cell < cells) means[cell] = first + sum / count
  }
  return means
}
