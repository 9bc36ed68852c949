/** How often a healthy sensor's readings are suspect, and how often a broken one's are found. */

import { checkQuality, flagSuspect } from '../../analytics/quality/quality.ts'
import { qualityLimits } from '../../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { autoregressive, minuteMs, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'

const days = 30
const stepMs = 5 * minuteMs
const length = (days * 24 * 60 * minuteMs) / stepMs
const perDay = length / days
/** From one cell to the next: the weather forgets itself within days. */
const memory = 0.999
const timesMs = Float64Array.from({ length }, (_, i) => Date.UTC(2026, 0, 1) + i * stepMs)

interface Sensor {
  readonly metric: 'temperature' | 'pressure'
  readonly level: number
  readonly swing: number
  readonly noise: number
}

const thermometer: Sensor = { metric: 'temperature', level: 12, swing: 5, noise: 0.1 }
const barometer: Sensor = { metric: 'pressure', level: 1013, swing: 0.8, noise: 0.02 }

/** A month of a daily cycle, slow weather and noise, shown in whole steps. */
function healthy({ level, swing, noise }: Sensor, quantum: number, seed: number): Float64Array {
  const weather = autoregressive(length, memory, seed)
  const weatherScale = swing * Math.sqrt(1 - memory ** 2)
  return autoregressive(length, 0, seed + 1_000).map((own, i) => {
    const cycle = swing * Math.sin((2 * Math.PI * i) / perDay)
    const value = level + cycle + weatherScale * (weather[i] as number) + noise * own
    return Math.round(value / quantum) * quantum
  })
}

function flagsOf(sensor: Sensor, values: Float64Array): Uint8Array {
  const limits = qualityLimits(sensor.metric, 0)
  return checkQuality(timesMs, values, limits, cadenceOf(timesMs, null).stretches).flags
}

function suspectShare(sensor: Sensor, quantum: number, seed: number): number {
  const flags = flagsOf(sensor, healthy(sensor, quantum, seed))
  return flags.filter(flag => flag === flagSuspect).length / flags.length
}

/** Where in the month something breaks, a day from its ends. */
function moment(seed: number): number {
  return Math.floor(perDay + uniform(seed)() * (length - 3 * perDay))
}

function findsSpike(sensor: Sensor, quantum: number, size: number, seed: number): boolean {
  const values = healthy(sensor, quantum, seed)
  const place = moment(seed)
  values[place] = (values[place] as number) + size
  return flagsOf(sensor, values)[place] === flagSuspect
}

/** Stuck for two days at what it showed last. */
function findsStuck(sensor: Sensor, quantum: number, seed: number): boolean {
  const values = healthy(sensor, quantum, seed)
  const place = moment(seed)
  values.fill(values[place] as number, place, place + 2 * perDay)
  const flags = flagsOf(sensor, values)
  return flags.subarray(place, place + 2 * perDay).every(flag => flag === flagSuspect)
}

const sensors = [
  { name: 'a thermometer', sensor: thermometer, quanta: [0.01, 0.1, 1], spike: 12 },
  { name: 'a barometer', sensor: barometer, quanta: [0.01, 0.1, 1], spike: 8 },
]

export const qualityProperties: readonly Property[] = sensors.flatMap(({ name, sensor, quanta, spike }) =>
  quanta.flatMap((quantum): Property[] => [
    {
      name: `suspect readings of ${name} in steps of ${quantum}`,
      run: seed => suspectShare(sensor, quantum, seed),
      atMost: 0.01,
    },
    {
      name: `a spike of ${name} in steps of ${quantum} is found`,
      run: seed => findsSpike(sensor, quantum, spike, seed),
      atLeast: 0.95,
    },
    {
      name: `${name} in steps of ${quantum}, stuck for two days, is found`,
      run: seed => findsStuck(sensor, quantum, seed),
      atLeast: 0.95,
    },
  ]),
)
