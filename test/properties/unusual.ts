/** The rates of false reports about a healthy gauge, and of found shifts of a day. */

import { unusualOf } from '../../analytics/unusual/unusual.ts'
import { autoregressive, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { dayAt, redWeather } from './worlds.ts'

const days = 60
const hours = 24 * days
/** Four weeks define the usual values, and four more are judged. */
const judgedFrom = 24 * 30
const localHours = Uint8Array.from({ length: hours }, (_, hour) => hour % 24)
const shiftHours = 24

interface Kind {
  readonly name: string
  readonly made: (seed: number) => Float64Array
}

const noisy = (phi: number) => (seed: number) => {
  const scale = 1 / Math.sqrt(1 - phi ** 2)
  const noise = autoregressive(1000 + hours, phi, 7919 * seed).slice(1000)
  return noise.map((value, hour) => value + 3 * scale * dayAt(hour))
}
const isBusy = (hour: number) => hour % 24 >= 8 && hour % 24 < 18 && Math.floor(hour / 24) % 7 < 5

const kinds: readonly Kind[] = [
  { name: 'a day and white noise', made: noisy(0) },
  { name: 'a day and AR(1) 0.9', made: noisy(0.9) },
  { name: 'a day and AR(1) 0.98', made: noisy(0.98) },
  { name: 'weather with a day', made: seed => redWeather(hours, seed).map((value, hour) => value + 4 * dayAt(hour)) },
  {
    name: 'an office with weekends',
    made: seed => noisy(0.8)(seed).map((value, hour) => 0.3 * value + (isBusy(hour) ? 10 : 0)),
  },
]

const unusualIn = (hourly: Float64Array) => unusualOf({ hourly, localHours, quantum: 0 }, judgedFrom).episodes

/** The deviation between an hour and the same hour of the days before. */
function deviationOf(values: Float64Array): number {
  const rests = values.subarray(14 * 24).map((value, at) => {
    const same = Array.from({ length: 14 }, (_, day) => values[at + 24 * day] as number).sort((a, b) => a - b)
    return value - ((same[6] as number) + (same[7] as number)) / 2
  })
  const mean = rests.reduce((sum, rest) => sum + rest, 0) / rests.length
  return Math.sqrt(rests.reduce((sum, rest) => sum + (rest - mean) ** 2, 0) / rests.length)
}

export const unusualProperties: readonly Property[] = kinds.flatMap(({ name, made }) => [
  {
    name: `something unusual, a month, in ${name}`,
    atMost: 0.05,
    run: (seed: number) => unusualIn(made(seed)).length,
  },
  {
    name: `a shift of four deviations for a day is unusual, in ${name}`,
    atLeast: 0.95,
    run: (seed: number) => {
      const values = made(seed)
      const at = judgedFrom + 24 * 5 + Math.floor(24 * 15 * uniform(seed)())
      const shift = 4 * deviationOf(values) * (seed % 2 === 0 ? 1 : -1)
      const shifted = values.map((value, hour) => (hour >= at && hour < at + shiftHours ? value + shift : value))
      return unusualIn(shifted).some(({ from, to }) => from < at + shiftHours && to >= at)
    },
  },
])
