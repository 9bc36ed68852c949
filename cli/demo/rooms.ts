/** Models of the air in a house: effects of people, a compressor and the sun. */

import { wanderAt } from './noise.ts'
import { bounded, hourOfDay, type Weather } from './weather.ts'

/** By the names of fields. */
export type Values = Record<string, number>

export type Room = (timeMs: number, outdoors: Weather, startedMs: number) => Values

const minuteMs = 60_000
const hourMs = 60 * minuteMs

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
