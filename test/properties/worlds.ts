/** Made worlds of several properties: weather, missing hours of the day, and patterns of reporting. */

import { autoregressive, dayMs, hourMs, uniform } from '../analytics/series.ts'
import { type Answer, ask, every, seriesOf } from '../query/stats/stats-of.ts'

/** AR(1) with a standard deviation of 1 from its first value on. */
function stationary(length: number, phi: number, seed: number): Float64Array {
  // The start value is forgotten by then.
  const warmUp = Math.ceil(5 / (1 - phi))
  const scale = Math.sqrt(1 - phi * phi)
  return autoregressive(length + warmUp, phi, seed)
    .subarray(warmUp)
    .map(value => scale * value)
}

/** Hours of weather: days hang together, and weeks more (AR(1) 0.9 and 1.5 times AR(1) 0.995). */
export function redWeather(hours: number, seed: number): Float64Array {
  const slow = stationary(hours, 0.995, 104_729 * seed + 1)
  return stationary(hours, 0.9, seed).map((value, hour) => value + 1.5 * (slow[hour] as number))
}

/** Hours without those from `fromHour` on of each day, `hours` of them. */
export function dailyHoles(values: Float64Array, fromHour: number, hours: number): Float64Array {
  return values.map((value, hour) => ((hour - fromHour + 24) % 24 < hours ? Number.NaN : value))
}

/** The statistics of a temperature, and of a humidity beside it, in cells of this length. */
export function statsOf(temperature: Float64Array, humidity?: Float64Array, stepMs = hourMs): Answer {
  const column = (values: Float64Array) => (_: number, cell: number) => values[cell] as number
  const columns = { temperature: column(temperature), ...(humidity && { humidity: column(humidity) }) }
  return ask({ series: seriesOf(every(stepMs, Date.UTC(2025, 5, 1), temperature.length), columns) })
}

/** A cycle of a day in hours. */
export const dayAt = (hour: number) => Math.sin((2 * Math.PI * hour) / 24)

/** Ascending times of [startMs, endMs), each so long after the one before as `nextMs` says. */
function timesFrom(startMs: number, endMs: number, nextMs: (timeMs: number) => number): Float64Array {
  const times: number[] = []
  for (let timeMs = startMs; timeMs < endMs; timeMs += nextMs(timeMs)) times.push(timeMs)
  return Float64Array.from(times)
}

/** A Poisson process with a rate by the hour of the day. */
function poissonTimes(startMs: number, days: number, seed: number, perHour: (hour: number) => number): Float64Array {
  const next = uniform(seed)
  const rateMax = Math.max(...Array.from({ length: 24 }, (_, hour) => perHour(hour)))
  const all = timesFrom(startMs, startMs + days * dayMs, () => (-Math.log(1 - next()) * hourMs) / rateMax)
  return all.filter(timeMs => next() * rateMax < perHour(Math.floor((timeMs % dayMs) / hourMs)))
}

/** A Poisson process with one rate. */
export function evenPoissonTimes(startMs: number, days: number, perDay: number, next: () => number): Float64Array {
  return timesFrom(startMs, startMs + days * dayMs, () => (-Math.log(1 - next()) * dayMs) / perDay)
}

/** Every two hours, 5 % of it early or late, five readings ten seconds apart. */
export function burstTimes(startMs: number, days: number, seed: number): Float64Array {
  const next = uniform(seed)
  const starts = Array.from({ length: days * 12 }, (_, place) => startMs + (2 * place + 0.1 * next()) * hourMs)
  return Float64Array.from(starts.flatMap(timeMs => [0, 1, 2, 3, 4].map(reading => timeMs + reading * 10_000)))
}

/** 60 readings an hour from 8 to 18 o'clock (UTC), one an hour at night. */
export function busyDayTimes(startMs: number, days: number, seed: number): Float64Array {
  return poissonTimes(startMs, days, seed, hour => (hour >= 8 && hour < 18 ? 60 : 1))
}

/** Each silence drawn where it begins: a quarter of an hour on average from 8 to 18 o'clock (UTC), four hours at night. */
export function dayNightTimes(startMs: number, days: number, seed: number): Float64Array {
  const next = uniform(seed)
  const isDay = (timeMs: number) => timeMs % dayMs >= 8 * hourMs && timeMs % dayMs < 18 * hourMs
  return timesFrom(
    startMs,
    startMs + days * dayMs,
    timeMs => -Math.log(1 - next()) * (isDay(timeMs) ? 0.25 : 4) * hourMs,
  )
}

/** Forty doors a day, between 8 and 18 o'clock (UTC). */
export function doorTimes(startMs: number, days: number, seed: number): Float64Array {
  return poissonTimes(startMs, days, seed, hour => (hour >= 8 && hour < 18 ? 4 : 0))
}

/** Intervals with a median of half an hour whose logarithms have this standard deviation. */
export function lognormalTimes(startMs: number, days: number, seed: number, sigma: number): Float64Array {
  const next = uniform(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  return timesFrom(startMs, startMs + days * dayMs, () => 0.5 * hourMs * Math.exp(sigma * normal()))
}
