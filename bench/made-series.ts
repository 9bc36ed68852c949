/**
 * Made readings of five metrics with features that the analytics must find: a daily cycle, humidity that follows the
 * temperature an hour later, single losses, long gaps, and missing values of one metric.
 */

import type { Reading } from '../ingest/reading.ts'
import type { DeviceRef } from '../ingest/readings-table.ts'
import type { Series } from '../query/series.ts'
import { type Metric, metrics } from '../store/tables.ts'

export interface MadeSeries {
  readonly device: DeviceRef
  /** Whole days up to `endMs`. */
  readonly days: number
  readonly endMs: number
  readonly stepMs: number
  /** The series have only temperature, humidity and pressure. */
  readonly isWithoutBattery?: boolean
}

export interface MadeReading {
  readonly device: DeviceRef
  readonly timeMs: number
  readonly reading: Reading
}

/** The expected figures of an answer. */
export const known = { periodHours: 24, lagSeconds: 3600 }

/** Silences by days before the end and hours of length, again each thirty days. */
const silences = [
  { daysBefore: 5, hours: 3 },
  { daysBefore: 12, hours: 26 },
  { daysBefore: 20, hours: 1.5 },
]
const silenceEveryDays = 30
/** Few: each lag is judged on other pairs, and with many losses their chance would hide a lag of a minute's width. */
const lossShare = 0.005
const humidityLossShare = 0.003

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Normal noise that forgets itself within `memoryMs`, with a standard deviation of 1. */
function createRedNoise(normal: () => number, stepMs: number, memoryMs: number): () => number {
  const keep = Math.exp(-stepMs / memoryMs)
  const scale = Math.sqrt(1 - keep * keep)
  let value = normal()
  return () => {
    value = keep * value + scale * normal()
    return value
  }
}

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function createUniform(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Rounds like a sensor. */
function shown(value: number, scale: number): number {
  return Math.round(value * scale) / scale
}

function isSilent({ endMs }: MadeSeries, timeMs: number): boolean {
  const beforeMs = (endMs - timeMs) % (silenceEveryDays * dayMs)
  return silences.some(({ daysBefore, hours }) => {
    return beforeMs < daysBefore * dayMs && beforeMs >= daysBefore * dayMs - hours * hourMs
  })
}

/** Readings in time order. A device reports at a fixed second, up to half a second late. */
export function* madeReadings(series: MadeSeries): Generator<MadeReading> {
  const { device, days, endMs, stepMs, isWithoutBattery = false } = series
  const uniform = createUniform(device.number)
  const normal = () => (uniform() + uniform() + uniform() + uniform() - 2) * Math.sqrt(3)
  // Short gusts show the lag to the minute, unlike a daily cycle alone.
  const gusts = createRedNoise(normal, stepMs, hourMs / 3)
  const air = createRedNoise(normal, stepMs, 48 * hourMs)
  const secondMs = (7919 * device.number) % (0.9 * stepMs)
  const delay = new Float64Array((known.lagSeconds * 1000) / stepMs)
  const startMs = endMs - days * dayMs
  // The hour before the start only fills the delay line.
  const steps = Math.round((days * dayMs) / stepMs)
  for (let step = -delay.length; step < steps; step++) {
    const stepStartMs = startMs + step * stepMs
    const cycle = Math.cos((2 * Math.PI * stepStartMs) / (known.periodHours * hourMs))
    const warmth = 12 - 8 * cycle + 1.5 * gusts()
    const place = (step + delay.length) % delay.length
    const warmthBefore = delay[place] as number
    delay[place] = warmth
    const pressure = 1013 + 4 * air()
    const isLost = uniform() < lossShare
    const isHumidityLost = uniform() < humidityLossShare
    const timeMs = stepStartMs + Math.floor(secondMs + 500 * uniform())
    if (step < 0 || isLost || isSilent(series, timeMs)) continue
    const voltage = 4.1 - (0.0005 * (step * stepMs)) / dayMs + 0.03 * cycle + 0.005 * normal()
    yield {
      device,
      timeMs,
      reading: {
        timestampMs: timeMs,
        temperature: shown(warmth + 0.05 * normal(), 100),
        humidity: isHumidityLost ? Number.NaN : shown(Math.max(1, Math.min(100, 84 - 2 * warmthBefore)), 10),
        pressure: shown(pressure, 100),
        battery_voltage: isWithoutBattery ? Number.NaN : shown(voltage, 1000),
        battery_percentage: isWithoutBattery ? Number.NaN : shown(Math.min(100, (voltage - 3.3) * 120), 1),
      },
    }
  }
}

/** The readings of the days before the last one, in columns. */
export function madeColumns(series: MadeSeries, days: number): Series {
  const made = [...madeReadings(series)]
  const fromMs = (made.at(-1)?.timeMs ?? 0) - days * dayMs
  const kept = made.filter(({ timeMs }) => timeMs > fromMs)
  const column = (metric: Metric) => Float64Array.from(kept, ({ reading }) => reading[metric])
  return {
    timesMs: Float64Array.from(kept, ({ timeMs }) => timeMs),
    values: Object.fromEntries(metrics.map(metric => [metric, column(metric)])) as Record<Metric, Float64Array>,
  }
}

const timesOfSeries = new WeakMap<MadeSeries, Float64Array>()

/** The times of the readings, computed once for each series. */
export function madeTimesMs(series: MadeSeries): Float64Array {
  let timesMs = timesOfSeries.get(series)
  if (timesMs === undefined) {
    timesMs = Float64Array.from(madeReadings(series), ({ timeMs }) => timeMs)
    timesOfSeries.set(series, timesMs)
  }
  return timesMs
}
