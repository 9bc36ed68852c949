/**
 * Limits adapted to a sensor's own readings. One step of a coarse sensor is not a jump, and neither is a difference
 * that is usual for it. A flat line has to be unusually long for the sensor and at least three hours long, because the
 * WMO's 60 minutes are too short: real pressure stood still for 2.6 h.
 */

import type { Samples } from '../present.ts'
import { quantilesInPlace } from '../summary/quantile.ts'
import { mayBeFlat } from './flat-line.ts'
import { type FlatWithin, type QualityLimits, widthShare } from './quality-limits.ts'

/** Lower bound of a limit, in steps of the sensor. */
const limitQuanta = 1.5
/** A usual range that excludes a larger share of the values does not apply to the place. */
const outsideShareMax = 0.1
/** Fewer values do not show the usual range. */
const manyValues = 100
const freeSpikeTimes = 3
/** Flat lines are never shorter. */
export const flatMinMs = 3 * 3_600_000
/** Decimal readings are not exact in binary: 20.4 − 20.3 is less than 0.1 by some 1e-15. */
export const rounding = 1e-9

export interface SensorLimits extends QualityLimits {
  /** The sensor's resolution, 0 while unknown. */
  readonly quantum: number
  /** This change between neighbours is usual, regardless of the limit. */
  readonly usualChange: number
  /** Length from which a flat line is suspect; null disables the test. */
  readonly flatMs: number | null
}

/** Takes present samples. A configured limit applies unchanged. */
export function sensorLimits(samples: Samples, limits: QualityLimits, isGapBefore: Uint8Array): SensorLimits {
  const { values } = samples
  const quantum = sensorQuantum(values, limits)
  const least = limitQuanta * quantum
  const { rate, isOwn } = limits
  const flatWithin = limits.flat === 0 && limits.flatMs === null ? extremesOf(values) : limits.flatWithin
  const atLeast = rate.map(([ms, change]): [number, number] => [ms, Math.max(change, least)])
  return {
    ...limits,
    range: limits.range !== null && (isOwn.range || isWithin(values, limits.range)) ? limits.range : null,
    quantum,
    spike: spikeLimit(values, limits, least, isGapBefore),
    rate: isOwn.rate ? rate : atLeast,
    usualChange: isOwn.rate ? 0 : usualChange(values, atLeast[0]?.[1] ?? 0, isGapBefore),
    flatWithin,
    flatMs: flatMsOf(samples, { ...limits, flatWithin }, isGapBefore),
  }
}

/** A deep freezer is always outside the usual range, and not broken. */
function isWithin(values: Float64Array, [min, max]: readonly [number, number]): boolean {
  if (values.length < manyValues) return true
  let outside = 0
  for (const value of values) if (value < min || value > max) outside++
  return outside <= outsideShareMax * values.length
}

/** Spread of `QualityLimits.flat`, as `flatLines` compares it. */
export function flatSpread(flat: number): number {
  return flat === 0 ? Number.MIN_VALUE : flat - rounding
}

/** A sensor rests there: rain and light at 0, a moisture at saturation. */
function extremesOf(values: Float64Array): FlatWithin {
  return [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)]
}

/** Steps larger than a spike are changes rather than the resolution. */
function sensorQuantum(values: Float64Array, { quantum, spike }: QualityLimits): number {
  if (quantum !== null) return quantum
  const found = quantumOf(values)
  // Rounded to the sensor's decimals: 20.4 − 20.3 is 0.0999…
  return found <= (spike ?? Number.POSITIVE_INFINITY) ? Number(found.toPrecision(6)) : 0
}

function spikeLimit(
  values: Float64Array,
  { spike, isOwn, isFree }: QualityLimits,
  least: number,
  isGapBefore: Uint8Array,
): number | null {
  if (spike !== null) return isOwn.spike ? spike : usualSpike(values, Math.max(spike, least), isGapBefore)
  return isFree ? freeSpike(values, isGapBefore) : null
}

/**
 * Three times the usual size, and at least a third of the middle 98 % of the values; null where the values hardly
 * change.
 */
function freeSpike(values: Float64Array, isGapBefore: Uint8Array): number | null {
  const usual = usualSize(spikeSizes(values, isGapBefore))
  if (usual === 0) return null
  const [low, high] = quantilesInPlace(values.slice(), [0.01, 0.99]) as [number, number]
  return Math.max(freeSpikeTimes * usual, widthShare * (high - low))
}

/** The usual size is computed only where a value exceeds the limit, which mostly saves the memory for the sizes. */
function usualSpike(values: Float64Array, limit: number, isGapBefore: Uint8Array): number {
  let largest = 0
  for (let index = 1; index < values.length - 1; index++) {
    if (isGapBefore[index] === 0 && isGapBefore[index + 1] === 0) largest = Math.max(largest, spikeSize(values, index))
  }
  return largest <= limit + rounding ? limit : Math.max(limit, usualSize(spikeSizes(values, isGapBefore)))
}

function usualChange(values: Float64Array, limit: number, isGapBefore: Uint8Array): number {
  let largest = 0
  for (let index = 1; index < values.length; index++) {
    if (isGapBefore[index] === 0) largest = Math.max(largest, changeSize(values, index))
  }
  return largest <= limit + rounding ? limit : Math.max(limit, usualSize(changeSizes(values, isGapBefore)))
}

function changeSizes(values: Float64Array, isGapBefore: Uint8Array): Float64Array {
  const sizes = new Float64Array(values.length)
  let count = 0
  for (let index = 1; index < values.length; index++) {
    if (isGapBefore[index] === 0) sizes[count++] = changeSize(values, index)
  }
  return sizes.subarray(0, count)
}

function spikeSizes(values: Float64Array, isGapBefore: Uint8Array): Float64Array {
  const sizes = new Float64Array(values.length)
  let count = 0
  for (let index = 1; index < values.length - 1; index++) {
    if (isGapBefore[index] === 0 && isGapBefore[index + 1] === 0) sizes[count++] = spikeSize(values, index)
  }
  return sizes.subarray(0, count)
}

function changeSize(values: Float64Array, index: number): number {
  return Math.abs((values[index] as number) - (values[index - 1] as number))
}

/** |xᵢ − (xᵢ₋₁ + xᵢ₊₁)/2|, with the signed mean: an unsigned one would be wrong below 0 °C. */
export function spikeSize(values: Float64Array, index: number): number {
  return Math.abs((values[index] as number) - ((values[index - 1] as number) + (values[index + 1] as number)) / 2)
}

function flatMsOf({ timesMs, values }: Samples, limits: QualityLimits, isGapBefore: Uint8Array): number | null {
  const { flat, flatWithin, flatMs } = limits
  if (flat === null || flatMs !== null) return flatMs
  if (values.length === 0) return null
  const limit = flatSpread(flat)
  // Most sensors never stand still for three hours, so their runs need not be examined.
  if (!mayBeFlat(timesMs, values, limit, isGapBefore, flatMinMs)) return flatMinMs
  const unusualOf = flat === 0 ? unusualStandMs : unusualRunMs
  const unusualMs = unusualOf(timesMs, values, limit, flatWithin, isGapBefore)
  return unusualMs === null ? null : Math.max(flatMinMs, unusualMs)
}

/** Number of runs that show a usual length, and number that shows its upper hundredth. */
const runsMin = 10
const manyRuns = 100
const usualTimes = 2
/** Equal readings of a sensor with longer runs have little significance. */
const medianMaxMs = 3_600_000

/** Null with fewer than ten runs, because the usual length is unknown. Arguments as in `flatLines`. */
function unusualRunMs(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  within: FlatWithin,
  isGapBefore: Uint8Array,
): number | null {
  const lengths = runLengths(timesMs, values, limit, within, isGapBefore)
  if (lengths.length < runsMin) return null
  return usualTimes * extrapolated(lengths).usualMs
}

/**
 * The same for a sensor with an unknown spread, so that equal readings alone are a run. Null with fewer than 100 runs
 * beside the longest, and where half of them last for more than an hour, as at a set point. At least twice the length
 * of the longest of the others, because nights are alike.
 */
function unusualStandMs(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  within: FlatWithin,
  isGapBefore: Uint8Array,
): number | null {
  const others = runLengths(timesMs, values, limit, within, isGapBefore).sort().subarray(0, -1)
  if (others.length < manyRuns) return null
  const longestMs = others.at(-1) as number
  const { medianMs, usualMs } = extrapolated(others)
  return medianMs > medianMaxMs ? null : usualTimes * Math.max(longestMs, usualMs)
}

function extrapolated(lengths: Float64Array): { readonly medianMs: number; readonly usualMs: number } {
  const [q50, q90, q99] = quantilesInPlace(lengths, [0.5, 0.9, 0.99]) as [number, number, number]
  const usualMs = lengths.length < manyRuns ? q90 + (2 * (q90 - q50)) / Math.log10(5) : q90 + 2 * (q99 - q90)
  return { medianMs: q50, usualMs }
}

/** Each run begins where the one before it ends. */
function runLengths(
  timesMs: Float64Array,
  values: Float64Array,
  limit: number,
  [above, below]: FlatWithin,
  isGapBefore: Uint8Array,
): Float64Array {
  const lengths = new Float64Array(values.length)
  let count = 0
  let start = 0
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let index = 0; index <= values.length; index++) {
    const value = values[index] ?? Number.POSITIVE_INFINITY
    const isWithin = Math.max(max, value) - Math.min(min, value) < limit
    if (index > start && !(isWithin && value < below && value > above && isGapBefore[index] === 0)) {
      if ((values[start] as number) < below && (values[start] as number) > above)
        lengths[count++] = (timesMs[index - 1] as number) - (timesMs[start] as number)
      start = index
      ;[min, max] = [value, value]
    }
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  return lengths.subarray(0, count)
}

/** Fewer do not show the usual size. */
const countMin = 100

/** Takes sizes without NaN and changes their order; 0 with fewer than a hundred. */
export function usualSize(sizes: Float64Array): number {
  if (sizes.length < countMin) return 0
  const [q50, q90] = quantilesInPlace(sizes, [0.5, 0.9]) as [number, number]
  return q90 + (2 * (q90 - q50)) / Math.log10(5)
}

/**
 * The resolution of a sensor, from its readings: the smallest frequent difference between two successive readings.
 * Smaller differences cannot be measured.
 */

/** Equal steps differ by rounding: 20.3 − 20.2 is not 0.1. */
const sameStep = 1e-6
/** A frequent difference has at least this share of the differences that are not 0, and at least this many. */
const shareMin = 0.002
const stepsMin = 3
/** The most differences examined of a long series, evenly spread. */
const sampleMax = 4096

/**
 * The quantum is in the unit of the values (NaN where missing). It is 0 when no step is frequent, as for a sensor with
 * fine steps.
 */
export function quantumOf(values: Float64Array): number {
  const steps = sampledSteps(values).sort()
  const oftenMin = Math.max(stepsMin, shareMin * steps.length)
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
