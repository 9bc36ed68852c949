/** Tests of the agreement of two instruments. */

import { type Agreement, agreementOf } from '../../analytics/correlation/agreement.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { demoColumn } from '../analytics/fixture.ts'
import { autoregressive, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { dayAt } from './worlds.ts'

const frame = { startMs: Date.UTC(2025, 5, 1), stepMs: 3_600_000 }
const local = createLocalTime('UTC')

function compared(a: Float64Array, b: Float64Array): Agreement {
  return agreementOf(a, b, frame, local)
}

/** A year of hours of a real barometer, less its steps of 1 hPa: means of five hours. */
const measured = demoColumn('greensboro-hours.csv', 'pressure')
const pressures = measured.subarray(4).map((_, hour) => meanOf(measured.subarray(hour, hour + 5)))

/**
 * Hourly means of a barometer that is read every minute, and of another one that has half of its readings. Between the
 * hours the pressure goes straight, with 0.02 hPa of noise.
 */
function barometers(hours: Float64Array, next: () => number): { all: Float64Array; half: Float64Array } {
  const all = new Float64Array(hours.length)
  const half = new Float64Array(hours.length)
  for (const [hour, value] of hours.entries()) {
    const change = (hours[hour + 1] ?? value) - value
    const readings = Array.from({ length: 60 }, (_, minute) => {
      return value + (change * minute) / 60 + 0.02 * (next() + next() - 1)
    })
    const kept = readings.filter(() => next() < 0.5)
    all[hour] = meanOf(readings)
    half[hour] = meanOf(kept)
  }
  return { all, half }
}

function meanOf(readings: ArrayLike<number>): number {
  return Array.from(readings).reduce((sum, reading) => sum + reading, 0) / readings.length
}

function withItsHalf(hours: number, seed: number): Agreement {
  const next = uniform(seed)
  const from = Math.floor(next() * (pressures.length - hours))
  const { all, half } = barometers(pressures.subarray(from, from + hours), next)
  return compared(all, half)
}

/** On a still day (1.4 hPa), the missing half of the hours costs more than a thousandth of the variance. */
const spans = [
  { name: 'a day', hours: 24, closeMin: 0.97 },
  { name: '3 days', hours: 72, closeMin: 1 },
  { name: 'a week', hours: 168, closeMin: 1 },
  { name: '30 days', hours: 720, closeMin: 1 },
]

/** A week of two thermometers in one weather: each with a day of its own, noise, and an error that wanders. */
function thermometers(seed: number): Agreement {
  const weather = autoregressive(weekHours, 0.98, 104_729 * seed + 1)
  const [a, b] = [1, 2].map(one => {
    const own = autoregressive(weekHours, 0.95, 7919 * seed + one)
    return weather.map((value, hour) => 10 + value + (2 + one) * dayAt(hour - one) + 0.3 * (own[hour] as number))
  }) as [Float64Array, Float64Array]
  return compared(a, b)
}

/** The two share only the daily cycle. */
function sharedDay(phi: number, seed: number): Agreement {
  const [a, b] = [1, 2].map(one => {
    const own = autoregressive(weekHours, phi, 7919 * seed + one)
    return own.map((value, hour) => value + (2 * dayAt(hour)) / Math.sqrt(1 - phi ** 2))
  }) as [Float64Array, Float64Array]
  return compared(a, b)
}

const weekHours = 168

function noiseName(phi: number): string {
  return phi === 1 ? 'random walks' : `AR(1) ${phi} series`
}

export const agreementProperties: readonly Property[] = [
  {
    name: 'two thermometers in one weather go together, over a week',
    atLeast: 0.98,
    run: seed => thermometers(seed).verdict === 'together',
  },
  ...[0.5, 0.9, 0.98].map(phi => ({
    name: `two AR(1) ${phi} series of a week that share the day alone go together`,
    atMost: 0.01,
    run: (seed: number) => sharedDay(phi, seed).verdict === 'together',
  })),
  ...spans.flatMap(({ name, hours, closeMin }) => [
    {
      name: `a barometer with half of its own readings goes together with it without a lag, over ${name}`,
      atLeast: 1,
      run: (seed: number) => {
        const { verdict, lag_seconds } = withItsHalf(hours, seed)
        return verdict === 'together' && lag_seconds === 0
      },
    },
    {
      name: `a correlation above 0.999 of a barometer with half of its own readings, over ${name}`,
      atLeast: closeMin,
      run: (seed: number) => (withItsHalf(hours, seed).lag_r ?? 0) > 0.999,
    },
  ]),
  ...[24, 168, 720].flatMap(hours =>
    [0.5, 0.9, 0.95, 0.99, 1].map(phi => ({
      name: `independent ${noiseName(phi)} of ${hours} hours go together`,
      atMost: 0.05,
      run: (seed: number) => {
        const [a, b] = [autoregressive(hours, phi, 2 * seed), autoregressive(hours, phi, 7919 * seed + 1)]
        return compared(a, b).verdict === 'together'
      },
    })),
  ),
]
