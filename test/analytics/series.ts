/** Generated series for the tests: noise with a fixed seed, cycles, gaps, the golden G1, and explicit samples. */

import type { Autocorrelation } from '../../analytics/correlation/autocorrelation.ts'
import { type Cadence, cadenceOf, type GapThresholds } from '../../analytics/reliability/cadence.ts'

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function uniform(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** x_t = φ·x_{t−1} + normal noise: white for 0, a random walk for 1. */
export function autoregressive(length: number, phi: number, seed: number): Float64Array {
  const next = uniform(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const values = new Float64Array(length)
  for (let i = 0; i < length; i++) values[i] = phi * (i === 0 ? 0 : (values[i - 1] as number)) + normal()
  return values
}

/** Removes about this share of the cells. */
export function withLoss(values: Float64Array, share: number, seed: number): Float64Array {
  const next = uniform(seed)
  return values.map(value => (next() < share ? Number.NaN : value))
}

/** G1: 20 + 5·sin over 30 days in cells of 5 minutes. */
export function goldenDaily(): Float64Array {
  return Float64Array.from({ length: 8640 }, (_, i) => 20 + 5 * Math.sin((2 * Math.PI * i * 300) / 86_400))
}

/** Samples by their times, in milliseconds or another unit. */
export function samplesOf(values: Readonly<Record<number, number>>, unitMs = 1) {
  const timesMs = Float64Array.from(Object.keys(values), time => Number(time) * unitMs)
  return { timesMs, values: Float64Array.from(Object.values(values)) }
}

export function bucketsBetween(edges: readonly number[], unitMs = 1) {
  return edges.slice(1).map((end, index) => ({ startMs: (edges[index] as number) * unitMs, endMs: end * unitMs }))
}

/** One threshold for all time. */
export function above(gapMs: number): GapThresholds {
  return [{ fromMs: Number.NEGATIVE_INFINITY, gapMs }]
}

/** The cadence of a device with a configured interval. */
export function everySeconds(seconds: number): Cadence {
  return cadenceOf(new Float64Array(0), seconds * 1000)
}

/** Throws if the result is missing. */
export function found<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('nothing was found')
  return value
}

/** r at a lag, NaN where there is none. */
export function at(result: Autocorrelation, lag: number): number {
  return result.r[lag] ?? Number.NaN
}
