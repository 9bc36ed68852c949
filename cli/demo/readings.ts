/** A model of a demo device at any time, shared by its history and its live readings. */

import { readFileSync } from 'node:fs'
import { bug } from '../../store/limits/bug.ts'
import { batteryAt } from './battery.ts'
import { bellAt, seedOf, wanderAt } from './noise.ts'
import type { ModelledStation, RecordedStation, Station } from './stations.ts'
import { bounded, type Measurement, type Values, weatherAt } from './weather.ts'

/** Its values, by the names of fields. `startedMs`: when the demo was started for the first time. */
export type Readings = (timeMs: number) => Values

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Digits behind the point, and the standard deviation of the noise. */
const sensors: Readonly<Record<string, readonly [digits: number, noise: number]>> = {
  temperature: [2, 0.05],
  humidity: [1, 0.3],
  pressure: [2, 0.06],
  co2: [0, 6],
  wind_speed: [1, 0.2],
  wind_direction: [0, 5],
  battery_voltage: [3, 0.004],
  battery_percentage: [0, 0],
}

const bounds: Readonly<Record<string, readonly [least: number, most: number]>> = {
  humidity: [0, 100],
  wind_speed: [0, 60],
  battery_percentage: [0, 100],
}

export function createReadings(station: Station, startedMs: number): Readings {
  return 'file' in station ? recordedReadings(station) : modelledReadings(station, startedMs)
}

/** Measured values at the times of the record, and interpolated values with sensor noise between them. */
function recordedReadings(station: RecordedStation): Readings {
  const { name, fileStepMs, weather, isPressureModelled } = station
  const replay = createReplay(station)
  const seed = seedOf(name)
  if (weather !== undefined) {
    const closed = closedRound(replay)
    return timeMs => measured(seed, ofOtherDay(closed(timeMs), weather, seed, timeMs), timeMs)
  }
  return timeMs => {
    const recorded: Values = { ...replay.at(timeMs) }
    const shown = timeMs % fileStepMs === 0 ? recorded : measured(seed, recorded, timeMs)
    if (isPressureModelled !== true) return shown
    return { ...shown, pressure: Number(((shown['pressure'] ?? 0) + frontAt(seed, timeMs)).toFixed(1)) }
  }
}

/** Removes the drift over a period, so that its end meets its beginning. */
function closedRound({ at, startMs, periodMs, stepMs }: Replay): Replay['at'] {
  const [first, last] = [at(startMs), at(startMs + periodMs - stepMs)]
  return timeMs => {
    const air = at(timeMs)
    const round = (timeMs - startMs) / periodMs
    const share = round - Math.floor(round) - 0.5
    const without = (name: keyof Measurement) => air[name] - share * (last[name] - first[name])
    return {
      temperature: without('temperature'),
      humidity: without('humidity'),
      pressure: without('pressure'),
    }
  }
}

function ofOtherDay(air: Measurement, degrees: number, seed: number, timeMs: number): Values {
  const wander = (offset: number, hours: number) => wanderAt(seed + offset, timeMs / hourMs, hours)
  return {
    temperature: air.temperature + degrees * (wander(1, 55) + 0.3 * wander(2, 15)),
    humidity: bounded(air.humidity + 11 * wander(3, 40), 8, 98),
    pressure: air.pressure + frontAt(seed, timeMs),
  }
}

/** The change of pressure by fronts, in hPa. */
function frontAt(seed: number, timeMs: number): number {
  const hours = timeMs / hourMs
  return 5 * wanderAt(seed + 4, hours, 70) + 1.5 * wanderAt(seed + 5, hours, 21)
}

function modelledReadings(station: ModelledStation, startedMs: number): Readings {
  const { name, altitude_m, region, room, battery, isStuck } = station
  const seed = seedOf(name)

  function valuesAt(timeMs: number): Values {
    const weather = weatherAt(altitude_m, timeMs, region)
    const { temperature, humidity, pressure, windSpeed, windDirection } = weather
    const air =
      room === undefined
        ? { temperature, humidity, pressure, wind_speed: windSpeed, wind_direction: windDirection }
        : room(timeMs, weather, startedMs)
    const cell = battery === undefined ? {} : batteryAt(battery, timeMs, startedMs, air['temperature'] ?? temperature)
    return measured(seed, { ...air, ...cell }, timeMs)
  }

  if (isStuck !== true) return valuesAt
  return timeMs => {
    const values = valuesAt(timeMs)
    const stuckMs = stuckSince(timeMs, startedMs)
    // Air that is saturated would hide it.
    if (stuckMs !== undefined) values['humidity'] = Math.min(88, valuesAt(stuckMs)['humidity'] ?? 88)
    return values
  }
}

const stuckEveryMs = 30 * dayMs
const stuckBeforeMs = 53 * hourMs
const stuckForMs = 7 * dayMs

/**
 * Returns the time since which the sensor stands still. It does so once a month, and some days before the first start.
 */
function stuckSince(timeMs: number, startedMs: number): number | undefined {
  const fromMs = startedMs - stuckBeforeMs
  const sinceMs = fromMs + Math.floor((timeMs - fromMs) / stuckEveryMs) * stuckEveryMs
  return timeMs - sinceMs < stuckForMs ? sinceMs : undefined
}

/** A sensor is off by a little each time, and shows no more digits than it has. */
function measured(seed: number, air: Readonly<Values>, timeMs: number): Values {
  const shown: Values = {}
  let offset = 10
  for (const [name, value] of Object.entries(air)) {
    const [digits, noise] = sensors[name] ?? [2, 0]
    const [least, most] = bounds[name] ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    const noisy = bounded(value + noise * bellAt(seed + offset++, Math.floor(timeMs / 1000)), least, most)
    shown[name] = Number(noisy.toFixed(digits))
  }
  if (shown['wind_direction'] !== undefined) shown['wind_direction'] = (shown['wind_direction'] + 360) % 360
  return shown
}

/** The measurements of a real station, repeated round after round: each at its time of the day, and of the year. */
interface Replay {
  /** Measurements from the record, repeated in whole rounds and interpolated between two lines. */
  at(timeMs: number): Measurement
  /** One round of the record: a day, or a year, from `startMs` on. */
  startMs: number
  periodMs: number
  stepMs: number
}

interface Recording {
  startMs: number
  stepMs: number
  measurements: Measurement[]
}

export function createReplay(station: Pick<RecordedStation, 'file' | 'fileStepMs'>): Replay {
  const { startMs, stepMs, measurements } = readRecording(station)
  const count = measurements.length

  function measurement(step: number): Measurement {
    const found = measurements[((step % count) + count) % count]
    if (found === undefined) throw bug(`step ${step} is not within the ${count} of the record`)
    return found
  }

  return {
    startMs,
    stepMs,
    periodMs: count * stepMs,
    at(timeMs) {
      const steps = (timeMs - startMs) / stepMs
      const before = Math.floor(steps)
      return between(measurement(before), measurement(before + 1), steps - before)
    },
  }
}

function between(before: Measurement, after: Measurement, share: number): Measurement {
  const mix = (a: number, b: number) => a + (b - a) * share
  return {
    temperature: mix(before.temperature, after.temperature),
    humidity: mix(before.humidity, after.humidity),
    pressure: mix(before.pressure, after.pressure),
  }
}

/** The files of the demo are whole: a line for each step, and a value in each cell. */
function readRecording({ file, fileStepMs: stepMs }: Pick<RecordedStation, 'file' | 'fileStepMs'>): Recording {
  const text = readFileSync(new URL(`./data/${file}`, import.meta.url), 'utf8')
  const rows = text
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split(','))
  const startMs = Date.parse(rows[0]?.[0] ?? '')
  const measurements = rows.map(([time = '', , temperature, humidity, pressure], row) => {
    if (Date.parse(time) !== startMs + row * stepMs) throw bug(`${file} has ${time} in the line of step ${row}`)
    return { temperature: Number(temperature), humidity: Number(humidity), pressure: Number(pressure) }
  })
  return { startMs, stepMs, measurements }
}
