/**
 * A model of a station's air at any minute: traffic in rush hours, mixing by day, ozone made by the sun, and stagnant
 * episodes of some days.
 */

import type { Parameter } from '../../../auth/stations/station.ts'
import { seedOf, uniformAt, wanderAt } from '../noise.ts'
import type { AirStation } from './stations.ts'

export type Concentrations = Record<Parameter, number>

export const dayMinutes = 1_440
const hourMinutes = 60

/** Concentrations in the units of the instruments; `minute` counts from the Unix epoch. */
export function airAt(station: AirStation, minute: number): Concentrations {
  const seed = seedOf(station.sn)
  const local = minute + station.utcOffsetMinutes
  const hour = (local % dayMinutes) / hourMinutes
  const sun = Math.max(0, Math.sin((Math.PI * (hour - 6)) / 12))
  const cars = station.emissions * trafficAt(hour, isWeekend(local)) * (1 + 0.25 * wanderAt(seed + 1, minute, 17))
  const weather = 1 + 0.35 * wanderAt(seed + 2, minute, 2_000)
  const stagnation = stagnationAt(seed + 3, minute)
  // Little air mixes above the ground at night, and in an episode by day too.
  const trapped = (weather * (1 + 1.8 * stagnation)) / (1 + 1.2 * sun * (1 - 0.6 * stagnation))
  const fine = (9 + 16 * cars) * trapped
  const dust = 8 * station.emissions * (0.4 + sun) * (1 + 0.5 * wanderAt(seed + 4, minute, 90))
  const no = 14 * cars * trapped * (1 - 0.7 * sun)
  const no2 = (4 + 11 * cars) * trapped * (1 - 0.25 * sun)
  return {
    pm1: 0.62 * fine,
    pm25: fine,
    pm10: 1.25 * fine + dust,
    no,
    no2,
    // Fresh exhaust consumes it.
    o3: (12 + 45 * sun * (1 + 0.5 * stagnation)) / (1 + no / 40),
    so2: 1.5 + 0.8 * station.emissions * trapped + plumeAt(seed + 5, minute),
    co: 0.15 + 0.35 * cars * trapped,
  }
}

/** Near 1 in a rush hour. */
function trafficAt(hour: number, isFree: boolean): number {
  const night = 0.15
  if (isFree) return night + 0.4 * peak(hour, 14, 4.5)
  return night + 0.45 * peak(hour, 13.5, 4) + 0.7 * peak(hour, 8.5, 1.2) + 0.75 * peak(hour, 18.5, 1.6)
}

function peak(hour: number, centre: number, width: number): number {
  return Math.exp(-(((hour - centre) / width) ** 2) / 2)
}

/** The epoch began on a Thursday. */
function isWeekend(localMinute: number): boolean {
  const weekday = (Math.floor(localMinute / dayMinutes) + 4) % 7
  return weekday === 0 || weekday === 6
}

const episodeEveryMinutes = 10 * dayMinutes

/** From 0 to 1: an episode of two to four days in every ten days. */
function stagnationAt(seed: number, minute: number): number {
  const round = Math.floor(minute / episodeEveryMinutes)
  const lengthMinutes = (2 + 2 * uniformAt(seed, 2 * round)) * dayMinutes
  const startMinute = uniformAt(seed, 2 * round + 1) * (episodeEveryMinutes - lengthMinutes)
  const share = (minute - round * episodeEveryMinutes - startMinute) / lengthMinutes
  return share > 0 && share < 1 ? Math.sin(Math.PI * share) ** 2 : 0
}

const plumeMinutes = 45

/** The wind brings the smoke of a factory for less than an hour, about once in two days. */
function plumeAt(seed: number, minute: number): number {
  const round = Math.floor(minute / plumeMinutes)
  if (uniformAt(seed, round) > 0.015) return 0
  return 25 * Math.sin((Math.PI * (minute - round * plumeMinutes)) / plumeMinutes)
}
