/**
 * A simple model of the weather of western Europe: the sun by its height, a daily and a yearly cycle, fronts that pass within
 * days, and wind. Times of day use the clock of this machine.
 */

import { wanderAt } from './noise.ts'

export interface Measurement {
  /** °C */
  temperature: number
  /** % */
  humidity: number
  /** hPa */
  pressure: number
}

interface Weather extends Measurement {
  /** The sun is 0 at night, up to 1 by day, and less where there are clouds. */
  sun: number
  /** m/s */
  windSpeed: number
  /** Degrees from north, where it comes from. */
  windDirection: number
}

const hourMs = 3_600_000
const yearDays = 365.25
const lapsePerMetre = 0.0065
const latitude = (47 * Math.PI) / 180
const warmestHour = 15
const coldestDay = 25

/** Weather at the altitude. Fronts pass everywhere at the same time. `region` has clouds and wind of its own. */
export function weatherAt(altitudeM: number, timeMs: number, region = 0): Weather {
  const hours = timeMs / hourMs
  const wander = (seed: number, periodHours: number) => wanderAt(seed, hours, periodHours)
  const local = (seed: number, periodHours: number) => wander(100 * region + seed, periodHours)
  const clouds = bounded((1 + local(3, 20)) / 2 + 0.2 * local(11, 2), 0, 1)
  const sun = Math.max(0, sunHeight(timeMs)) * (1 - 0.6 * clouds)
  const year = -Math.cos(2 * Math.PI * (hours / 24 / yearDays - coldestDay / yearDays))
  const day = Math.cos((2 * Math.PI * (hourOfDay(timeMs) - warmestHour)) / 24)
  const swing = (1.2 + 4 * (1 - clouds)) * (0.7 + 0.3 * year) * day
  const fronts = 5 * wander(1, 62) + 1.2 * local(2, 17) + 0.3 * local(12, 1.5)
  const seaLevel = 9 * wander(4, 88) + 3 * wander(5, 26) + 0.8 * wander(13, 9) + 0.4 * tide(hours)
  const towards = 235 + 110 * local(9, 40) + 25 * local(10, 1.2)
  return {
    temperature: 10.5 + 8 * year + swing + fronts - lapsePerMetre * altitudeM,
    humidity: bounded(70 - 2.6 * swing + 12 * clouds + 8 * local(6, 31), 22, 98),
    pressure: pressureAt(altitudeM) * (1 + seaLevel / 1013),
    sun,
    windSpeed: 2.4 * Math.exp(0.8 * local(7, 14) + 0.35 * local(8, 1.5)) * (1 + 0.4 * sun) * (1 + altitudeM / 1500),
    windDirection: (towards + 360) % 360,
  }
}

/** The atmospheric tide: twice a day, highest at about 10 and 22 o'clock. */
function tide(hours: number): number {
  return Math.cos((4 * Math.PI * (hours - 10)) / 24)
}

/** The international standard atmosphere, hPa. */
export function pressureAt(altitudeM: number): number {
  return 1013.25 * (1 - 2.255_77e-5 * altitudeM) ** 5.255_88
}

/** The hour is 0 to 24, on the clock of this machine. */
function hourOfDay(timeMs: number): number {
  const time = new Date(timeMs)
  return time.getHours() + time.getMinutes() / 60 + time.getSeconds() / 3600
}

export function bounded(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** The sine of its height, with the declination by Cooper's formula. */
function sunHeight(timeMs: number): number {
  const dayOfYear = (timeMs / hourMs / 24) % yearDays
  const declination = ((23.45 * Math.PI) / 180) * Math.sin((2 * Math.PI * (284 + dayOfYear)) / 365)
  const angle = (Math.PI * (hourOfDay(timeMs) - 12.5)) / 12
  return Math.sin(latitude) * Math.sin(declination) + Math.cos(latitude) * Math.cos(declination) * Math.cos(angle)
}

/** Keys are names of fields. */
export type Values = Record<string, number>

export type Room = (timeMs: number, outdoors: Weather, startedMs: number) => Values

const minuteMs = 60_000

/** CO2 rises while people are there, and all the more while they cook with gas. */
export const kitchen: Room = (timeMs, outdoors) => {
  const [hour, hours] = [hourOfDay(timeMs), timeMs / hourMs]
  const isFree = [0, 6].includes(new Date(timeMs).getDay())
  const present = peak(hour, 7.6, 0.9) + 0.9 * peak(hour, 19.5, 1.9) + (isFree ? 0.7 * peak(hour, 12.8, 2.2) : 0)
  const cooking = peak(hour, 18.6, 0.55) * (0.85 + 0.3 * wanderAt(21, hours, 24)) + 0.3 * peak(hour, 7.3, 0.3)
  return {
    temperature:
      19.9 + 1.2 * present + 0.8 * cooking + 0.35 * wanderAt(22, hours, 11) + 0.03 * (outdoors.temperature - 8),
    humidity: 43 + 2.5 * present + 8 * cooking + 4 * wanderAt(23, hours, 34),
    pressure: outdoors.pressure,
    co2: 455 + 270 * present + 330 * cooking + 35 * wanderAt(24, hours, 19) + 15 * wanderAt(25, hours, 2),
  }
}

const compressorMinutes = 46
const doorOpenHoursAgo = 79
const doorOpenMinutes = 65

/** The compressor goes on and off. Some days before the demo starts, the lid stays open. */
export const freezer: Room = (timeMs, outdoors, startedMs) => {
  const hours = timeMs / hourMs
  const cycle = Math.sin((2 * Math.PI * timeMs) / (compressorMinutes * minuteMs))
  const minutes = (timeMs - startedMs) / minuteMs + 60 * doorOpenHoursAgo
  const filled = 1 - Math.exp(-bounded(minutes, 0, doorOpenMinutes) / 30)
  const warmth = filled * Math.exp(-Math.max(0, minutes - doorOpenMinutes) / 55)
  return {
    temperature: -18.6 + 0.25 * cycle + 0.6 * wanderAt(31, hours, 27) + 0.3 * wanderAt(33, hours, 5) + 11.5 * warmth,
    humidity: 64 + 1.5 * cycle + 5 * wanderAt(32, hours, 21) + 14 * warmth,
    pressure: outdoors.pressure,
  }
}

/** Glass in the sun, and a heater against frost; plants breathe CO2 out by night and in by day. */
export const greenhouse: Room = (timeMs, outdoors) => {
  const hours = timeMs / hourMs
  const night = 1 - Math.min(1, 2 * outdoors.sun)
  return {
    temperature: Math.max(7 + 0.8 * wanderAt(41, hours, 6), outdoors.temperature + 2 + 17 * outdoors.sun),
    humidity: bounded(87 - 42 * outdoors.sun + 6 * wanderAt(42, hours, 13), 30, 97),
    pressure: outdoors.pressure,
    co2: 395 + 110 * night + 30 * wanderAt(43, hours, 5),
  }
}

function peak(hour: number, centre: number, width: number): number {
  return Math.exp(-(((hour - centre) / width) ** 2) / 2)
}
