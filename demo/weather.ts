/** A simple model of the air at a place: a daily cycle, humidity against temperature, slow weather and sensor noise. */

import type { Measurement } from './history.ts'
import type { ModelledStation } from './stations.ts'

export type Random = () => number

/** The same seed gives the same numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A number from the text of a name, so that each device has a seed of its own. */
export function seedOf(name: string): number {
  let seed = 0
  for (const character of name) seed = Math.imul(seed, 31) + (character.codePointAt(0) ?? 0)
  return seed
}

const dayMs = 86_400_000
/** The warmest hour of the day, in UTC, as it is in western Europe. */
const warmestHour = 14

/** What the air is like there at that time; `phase` tells places apart in the weather of the week. */
export function modelWeather({ climate, altitude_m }: ModelledStation, timeMs: number, phase: number): Measurement {
  const days = timeMs / dayMs
  const daily = Math.cos(2 * Math.PI * (days - warmestHour / 24))
  const weekly = Math.sin(2 * Math.PI * (days / 6.3 + phase))
  const warmth = climate.temperatureSwing * (daily + 0.4 * weekly)
  const humidity = climate.humidityMean - climate.humidityPerDegree * warmth
  return {
    temperature: climate.temperatureMean + warmth,
    humidity: Math.min(99, Math.max(8, humidity)),
    pressure: pressureAt(altitude_m) - 7 * weekly,
  }
}

/** The international standard atmosphere, hPa. */
export function pressureAt(altitudeM: number): number {
  return 1013.25 * (1 - 2.255_77e-5 * altitudeM) ** 5.255_88
}

/** A sensor is off by a little each time, and shows no more digits than it has. */
export function measured(air: Measurement, random: Random): Measurement {
  return {
    temperature: rounded(air.temperature + 0.05 * bell(random), 2),
    humidity: Math.min(100, Math.max(0, rounded(air.humidity + 0.2 * bell(random), 1))),
    pressure: rounded(air.pressure + 0.08 * bell(random), 2),
  }
}

/** Roughly normal, and never further out than three. */
function bell(random: Random): number {
  return (random() + random() + random() - 1.5) * 2
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
