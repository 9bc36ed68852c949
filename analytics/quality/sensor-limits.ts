/**
 * Limits adapted to a sensor's own readings. One step of a coarse sensor is not a jump, and neither is a difference
 * that is usual for it. A flat line has to be unusually long for the sensor and at least three hours long, because the
 * WMO's 60 minutes are too short: real pressure stood still for 2.6 h.
 */

import type { Samples } from '../present.ts'
import { quantilesInPlace } from '../summary/quantile.ts'
import { widthShare } from './error-codes.ts'
import { mayBeFlat } from './flat-line.ts'
import type { FlatWithin, QualityLimits } from './quality-limits.ts'
import { quantumOf } from './quantum.ts'
import { unusualRunMs, unusualStandMs } from './usual-runs.ts'
import { usualSize } from './usual-size.ts'

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
