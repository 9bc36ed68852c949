/**
 * The resolution of a sensor, from its readings: the smallest frequent difference between two successive readings.
 * Smaller differences cannot be measured.
 */

/** Equal steps differ by rounding: 20.3 − 20.2 is not 0.1. */
const sameStep = 1e-6
/** A frequent difference has at least this share of the differences that are not 0, and at least this many. */
const shareMin = 0.002
const countMin = 3
/** The most differences examined of a long series, evenly spread. */
const sampleMax = 4096

/** In the unit of the values (NaN where missing); 0 when no step is frequent, as for a sensor with fine steps. */
export function quantumOf(values: Float64Array): number {
  const steps = sampledSteps(values).sort()
  const oftenMin = Math.max(countMin, shareMin * steps.length)
  for (let from = 0, to = 0; from < steps.length; from = to) {
    const step = steps[from] as number
    while (to < steps.length && (steps[to] as number) <= step * (1 + sameStep)) to++
    if (to - from >= oftenMin) return step
  }
  return 0
}

/** The absolute differences between observed neighbours, without 0. */
function sampledSteps(values: Float64Array): Float64Array {
  const isStep = (index: number) => Math.abs((values[index] as number) - (values[index - 1] as number)) > 0
  let count = 0
  for (let index = 1; index < values.length; index++) if (isStep(index)) count++
  const stride = Math.ceil(count / sampleMax)
  const steps = new Float64Array(count === 0 ? 0 : Math.ceil(count / stride))
  let seen = 0
  for (let index = 1; index < values.length; index++) {
    if (!isStep(index)) continue
    const step = Math.abs((values[index] as number) - (values[index - 1] as number))
    if (seen % stride === 0) steps[seen / stride] = step
    seen++
  }
  return steps
}
