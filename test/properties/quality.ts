/** The rates of suspect readings of a healthy sensor, and of found ones of a broken sensor. */

import { checkQuality, flagSuspect } from '../../analytics/quality/quality.ts'
import { errorBit, freeLimits, qualityLimits, spikeBit } from '../../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { autoregressive, minuteMs, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'

const days = 30
const stepMs = 5 * minuteMs
const length = (days * 24 * 60 * minuteMs) / stepMs
const perDay = length / days
/** Correlation from one cell to the next: the weather is forgotten within days. */
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

/** The moment of a fault in the month, a day from its ends. */
function moment(seed: number): number {
  return Math.floor(perDay + uniform(seed)() * (length - 3 * perDay))
}

function findsSpike(sensor: Sensor, quantum: number, size: number, seed: number): boolean {
  const values = healthy(sensor, quantum, seed)
  const place = moment(seed)
  values[place] = (values[place] as number) + size
  return flagsOf(sensor, values)[place] === flagSuspect
}

/** Stuck for two days at its last value. */
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

/** Unknown gauges: CO2 of an office, a soil, a light, with values of such sensors. */
const gauges = [
  {
    name: 'CO2',
    of: (hour: number, slow: number, noise: number) => 450 + (isBusy(hour) ? 350 : 0) + 60 * slow + 8 * noise,
    step: 1,
  },
  { name: 'a soil', of: (_: number, slow: number, noise: number) => 30 + 3 * slow + 0.05 * noise, step: 0.1 },
  {
    name: 'a light',
    of: (hour: number, slow: number, noise: number) => (hour % 24 < 6 ? 0 : 800 + 200 * slow + 50 * noise),
    step: 1,
  },
]
const isBusy = (hour: number) => hour % 24 >= 8 && hour % 24 < 18 && hour < 120
const errorCodes = [-200, -999, -9999, 65_535, 32_767, 85, 127]

function gaugeValues({ of, step }: (typeof gauges)[number], seed: number): Float64Array {
  const slow = autoregressive(length, memory, 31 * seed).map(value => value * Math.sqrt(1 - memory ** 2))
  return autoregressive(length, 0, seed + 1_000).map((noise, i) => {
    return Math.round(of(((i * stepMs) / 3_600_000) % 168, slow[i] as number, noise) / step) * step
  })
}

function gaugeMarks(values: Float64Array) {
  const limits = freeLimits(qualityLimits('gauge', null), {})
  return checkQuality(timesMs, values, limits, cadenceOf(timesMs, null).stretches).marks
}

const gaugeProperties: readonly Property[] = gauges.flatMap(gauge => [
  {
    name: `spikes and error codes among the readings of ${gauge.name}`,
    atMost: 0.0001,
    run: (seed: number) => gaugeMarks(gaugeValues(gauge, seed)).filter(mark => mark !== 0).length / length,
  },
  {
    name: `an error code among the readings of ${gauge.name} is found`,
    atLeast: 0.95,
    run: (seed: number) => {
      const values = gaugeValues(gauge, seed)
      const [least, most] = [Math.min(...values), Math.max(...values)]
      const far = errorCodes.filter(code => code < least - (most - least) / 2 || code > most + (most - least) / 2)
      const place = moment(seed)
      values[place] = far[seed % far.length] as number
      return ((gaugeMarks(values)[place] as number) & errorBit) !== 0
    },
  },
  {
    name: `a wild value among the readings of ${gauge.name} is found`,
    atLeast: 0.95,
    run: (seed: number) => {
      const values = gaugeValues(gauge, seed)
      const place = moment(seed)
      values[place] = (values[place] as number) + 1.5 * (Math.max(...values) - Math.min(...values))
      return ((gaugeMarks(values)[place] as number) & spikeBit) !== 0
    },
  },
])

/** Places outside of usual ranges: a deep freezer, a food cooler, a room. */
const placesOfCold = [
  { name: 'a deep freezer', level: -32 },
  { name: 'a food cooler', level: 1 },
  { name: 'a room', level: 21 },
]

/** A compressor every 35 minutes, and heat for 25 minutes every 8 h, which warms the air within a quarter of an hour. */
function defrosting(level: number, everyMinutes: number, seed: number): { times: Float64Array; values: Float64Array } {
  const noise = autoregressive(days * 1440, 0.9, 31 * seed)
  const warmUp = 0.08
  let air = level
  const minutes = noise.map((own, minute) => {
    const compressor = 0.8 * Math.sin((2 * Math.PI * minute) / 35)
    const isHeated = (minute + 13 * seed) % 480 < 25
    air += warmUp * ((isHeated ? level + 14 : level + compressor) - air)
    return Math.round((air + 0.03 * own) * 10) / 10
  })
  const values = minutes.filter((_, minute) => minute % everyMinutes === 0)
  return { times: values.map((_, place) => (timesMs[0] as number) + place * everyMinutes * minuteMs), values }
}

const coldProperties: readonly Property[] = [
  ...placesOfCold.map(({ name, level }) => ({
    name: `suspect readings of ${name}`,
    atMost: 0.01,
    run: (seed: number) => suspectShare({ ...thermometer, level, swing: 1.5, noise: 0.2 }, 0.1, seed),
  })),
  ...[1, 5, 10, 15].map(everyMinutes => ({
    name: `suspect readings of a freezer that defrosts every 8 h, read every ${everyMinutes} min`,
    atMost: 0.01,
    run: (seed: number) => {
      const { times, values } = defrosting(-32, everyMinutes, seed)
      const { counts } = checkQuality(
        times,
        values,
        qualityLimits('temperature', null),
        cadenceOf(times, null).stretches,
      )
      return counts.suspect / values.length
    },
  })),
]

const knownProperties: readonly Property[] = sensors.flatMap(({ name, sensor, quanta, spike }) =>
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

export const qualityProperties: readonly Property[] = [...knownProperties, ...gaugeProperties, ...coldProperties]
