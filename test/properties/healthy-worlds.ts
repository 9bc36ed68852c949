/** Months of made devices in good health. */

import { type CellType, cellTypes, voltageOf } from '../../analytics/battery/curves.ts'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import { autoregressive, minuteMs, uniform } from '../analytics/series.ts'
import { doorTimes, evenPoissonTimes } from './worlds.ts'

export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
export const startMs = Date.UTC(2026, 0, 1)
export const days = 37

export interface World {
  /** Undefined: neither of a cold chain nor of a known battery. */
  readonly device?: Partial<WorldDevice>
  readonly timesMs: Float64Array
  readonly metrics: Readonly<Record<string, Float64Array>>
}

export interface WorldDevice extends Pick<AnalysedDevice, 'battery_type' | 'battery_cells'> {
  readonly isColdChain: boolean
}

export function regular(stepMs: number): Float64Array {
  return Float64Array.from({ length: (days * dayMs) / stepMs }, (_, place) => startMs + place * stepMs)
}

/** A slow level that wanders by about one, at any times. */
function wandering(timesMs: Float64Array, memory: number, seed: number): (place: number) => number {
  const hourly = autoregressive(days * 24 + 2, memory, seed).map(value => value * Math.sqrt(1 - memory ** 2))
  return place => {
    const at = ((timesMs[place] as number) - startMs) / hourMs
    const hour = Math.floor(at)
    const [one, next] = [hourly[hour] as number, hourly[hour + 1] as number]
    return one + (at - hour) * (next - one)
  }
}

const dayOf = (timeMs: number) => Math.sin((2 * Math.PI * timeMs) / dayMs)
const rounded = (value: number, quantum: number) => Math.round(value / quantum) * quantum

function weather(timesMs: Float64Array, quantum: number, seed: number): World['metrics'] {
  const level = (memory: number, number: number) => wandering(timesMs, memory, 7919 * seed + number)
  const [quick, slow, damp, air] = [level(0.9, 0), level(0.995, 1), level(0.95, 2), level(0.99, 3)]
  const noise = autoregressive(timesMs.length, 0, 104_729 + seed)
  const values = (of: (place: number, day: number) => number, step: number) =>
    timesMs.map((timeMs, place) => rounded(of(place, dayOf(timeMs)), step))
  const warmth = (place: number) => 1.5 * quick(place) + 3 * slow(place) + 0.1 * (noise[place] as number)
  return {
    temperature: values((place, day) => 12 + 4 * day + warmth(place), quantum),
    humidity: values((place, day) => Math.min(100, 70 - 12 * day + 8 * damp(place)), 10 * quantum),
    pressure: values((place, day) => 1013 + 0.5 * day + 7 * air(place) + 0.05 * (noise[place] as number), quantum),
  }
}

function indoor(timesMs: Float64Array, quantum: number, seed: number): World['metrics'] {
  const slow = wandering(timesMs, 0.99, 31 * seed)
  const damp = wandering(timesMs, 0.97, 37 * seed)
  return {
    temperature: timesMs.map((timeMs, place) => rounded(21 + 0.5 * dayOf(timeMs) + 0.5 * slow(place), quantum)),
    humidity: timesMs.map((_, place) => rounded(45 + 4 * damp(place), 10 * quantum)),
  }
}

/** A compressor every 40 minutes, and defrosts that warm by 6 K for half an hour. */
export function freezer(timesMs: Float64Array, quantum: number, defrostMs: number, seed: number): World['metrics'] {
  const noise = autoregressive(timesMs.length, 0, seed)
  return {
    temperature: timesMs.map((timeMs, place) => {
      const sinceDefrostMs = (timeMs - startMs) % defrostMs
      const defrost = sinceDefrostMs < 30 * minuteMs ? 6 * Math.sin((Math.PI * sinceDefrostMs) / (30 * minuteMs)) : 0
      const compressor = 0.7 * Math.sin((2 * Math.PI * timeMs) / (40 * minuteMs))
      return rounded(-18 + compressor + defrost + 0.1 * (noise[place] as number), quantum)
    }),
  }
}

/**
 * A refrigerator at 5 °C whose compressor runs every 40 minutes, with two defrosts a day (2 K for a quarter of an
 * hour). 40 door openings between 8 and 18 o'clock each warm the sensor by 3 to 6 K, half of which is gone after 4
 * minutes.
 */
function refrigerator(timesMs: Float64Array, seed: number): World['metrics'] {
  const noise = autoregressive(timesMs.length, 0, 59 * seed)
  const doors = doorTimes(startMs, days, 53 * seed)
  const next = uniform(61 * seed)
  const kelvins = Array.from(doors, () => 3 + 3 * next())
  let newest = -1
  return {
    temperature: timesMs.map((timeMs, place) => {
      while ((doors[newest + 1] ?? Number.POSITIVE_INFINITY) <= timeMs) newest++
      let air = 0
      for (let door = newest; door >= 0 && timeMs - (doors[door] as number) < hourMs; door--) {
        air = Math.max(air, (kelvins[door] as number) * 0.5 ** ((timeMs - (doors[door] as number)) / (4 * minuteMs)))
      }
      const sinceDefrostMs = (timeMs - startMs + 5 * hourMs) % (12 * hourMs)
      const defrost = sinceDefrostMs < 15 * minuteMs ? 2 * Math.sin((Math.PI * sinceDefrostMs) / (15 * minuteMs)) : 0
      const compressor = 0.5 * Math.sin((2 * Math.PI * timeMs) / (40 * minuteMs))
      return rounded(5 + compressor + defrost + air + 0.1 * (noise[place] as number), 0.1)
    }),
  }
}

/** Time since the newest of some moments, infinite before the first. Times must ascend. */
function since(moments: Float64Array): (timeMs: number) => number {
  let newest = -1
  return timeMs => {
    while ((moments[newest + 1] ?? Number.POSITIVE_INFINITY) <= timeMs) newest++
    return newest < 0 ? Number.POSITIVE_INFINITY : timeMs - (moments[newest] as number)
  }
}

const workdays = Array.from({ length: days }, (_, day) => day).filter(day => day % 7 < 5)

/**
 * A walk-in cold room whose door is open for half an hour twice a workday. The air warms by 5 K and cools with a
 * half-life of 8 minutes. The humidity follows.
 */
function coldRoom(timesMs: Float64Array, level: number, seed: number): World['metrics'] {
  const next = uniform(71 * seed)
  const noise = autoregressive(timesMs.length, 0, 73 * seed)
  const opened = workdays.flatMap(day => [7, 14].map(hour => startMs + day * dayMs + (hour + next()) * hourMs))
  const sinceOpened = since(Float64Array.from(opened))
  const openMs = 30 * minuteMs
  const warmth = timesMs.map(timeMs => {
    const ms = sinceOpened(timeMs)
    const most = 1 - 0.5 ** (Math.min(ms, openMs) / (5 * minuteMs))
    return ms === Number.POSITIVE_INFINITY ? 0 : 5 * most * 0.5 ** (Math.max(0, ms - openMs) / (8 * minuteMs))
  })
  return {
    temperature: timesMs.map((timeMs, place) => {
      const compressor = 0.6 * Math.sin((2 * Math.PI * timeMs) / (25 * minuteMs))
      return rounded(level + compressor + (warmth[place] as number) + 0.05 * (noise[place] as number), 0.1)
    }),
    humidity: warmth.map((kelvins, place) => rounded(75 + 3 * kelvins + 0.5 * (noise[place] as number), 0.5)),
  }
}

/** A heated office, 5 K colder at night, whose window is open for ten minutes of each workday in winter. */
function airedOffice(timesMs: Float64Array, seed: number): World['metrics'] {
  const next = uniform(79 * seed)
  const noise = autoregressive(timesMs.length, 0, 83 * seed)
  const slow = wandering(timesMs, 0.97, 89 * seed)
  const sinceAired = since(Float64Array.from(workdays, day => startMs + day * dayMs + (9 + 6 * next()) * hourMs))
  const openMs = 10 * minuteMs
  // The share of the outer air in the room. Half of it is warm again after 15 minutes.
  const outer = timesMs.map(timeMs => {
    const ms = sinceAired(timeMs)
    const most = 0.6 * (1 - 0.5 ** (Math.min(ms, openMs) / (4 * minuteMs)))
    return ms === Number.POSITIVE_INFINITY ? 0 : most * 0.5 ** (Math.max(0, ms - openMs) / (15 * minuteMs))
  })
  let room = 20
  let lastMs = timesMs[0] as number
  const heated = timesMs.map(timeMs => {
    const target = isBusy((timeMs / hourMs) % 168) ? 21.5 : 16.5
    room += (1 - 0.5 ** ((timeMs - lastMs) / (90 * minuteMs))) * (target - room)
    lastMs = timeMs
    return room
  })
  return {
    temperature: heated.map((warm, place) => {
      const air = warm + 0.4 * slow(place)
      return rounded(air - (outer[place] as number) * (air - 2) + 0.03 * (noise[place] as number), 0.1)
    }),
    humidity: outer.map((share, place) =>
      rounded(38 + 3 * slow(place) - 12 * share + 0.2 * (noise[place] as number), 0.5),
    ),
  }
}

/** A cell that lasts `lifeDays`, a quarter of which are over. Its voltage swings by 1 % with the day. */
export function battery(timesMs: Float64Array, type: CellType, lifeDays: number, seed: number): Float64Array {
  const noise = autoregressive(timesMs.length, 0, 67 * seed)
  return timesMs.map((timeMs, place) => {
    const charge = 100 * (0.75 - (timeMs - startMs) / dayMs / lifeDays)
    const swing = 0.01 * dayOf(timeMs)
    return rounded(voltageOf(type, charge) * (1 + swing + 0.002 * (noise[place] as number)), 0.01)
  })
}

/** Gauges of an office, empty at night and at the weekend. `hour` is of a week. */
export const custom: Readonly<Record<string, (hour: number, noise: number, slow: number) => number>> = {
  co2: (hour, noise, slow) => rounded(420 + (isBusy(hour) ? 300 + 80 * slow : 0) + 4 * noise, 10),
  light: (hour, noise) => (hour % 24 < 6 || hour % 24 > 20 ? 0 : Math.round(2000 + 300 * noise)),
  probe: (hour, noise, slow) => rounded(19 + (isBusy(hour) ? 2 : 0) + 0.5 * slow + 0.05 * noise, 0.0625),
  dust: (_, noise, slow) => Math.max(0, Math.round(2 * slow + noise)),
  set_point: hour => (isBusy(hour) ? 21 : 17),
}
const isBusy = (hour: number) => hour % 24 >= 8 && hour % 24 < 18 && hour < 120

export function office(timesMs: Float64Array, seed: number): World['metrics'] {
  return Object.fromEntries(
    Object.entries(custom).map(([name, of], place) => {
      const noise = autoregressive(timesMs.length, 0, 41 * seed + place)
      const slow = wandering(timesMs, 0.97, 43 * seed + place)
      const value = (timeMs: number, at: number) => of((timeMs / hourMs) % 168, noise[at] as number, slow(at))
      return [name, timesMs.map(value)]
    }),
  )
}

const lost = (timesMs: Float64Array, share: number, seed: number) => {
  const next = uniform(seed + 17)
  return timesMs.filter(() => next() >= share)
}

export const healthyWorlds: readonly { readonly name: string; readonly made: (seed: number) => World }[] = [
  { name: 'outdoors', made: seed => worldOf(regular(5 * minuteMs), times => weather(times, 0.1, seed)) },
  { name: 'outdoors in fine steps', made: seed => worldOf(regular(5 * minuteMs), times => weather(times, 0.01, seed)) },
  { name: 'outdoors, by the hour', made: seed => worldOf(regular(hourMs), times => weather(times, 0.1, seed)) },
  {
    name: 'outdoors with 10 % lost',
    made: seed => worldOf(lost(regular(10 * minuteMs), 0.1, seed), times => weather(times, 0.1, seed)),
  },
  { name: 'indoors', made: seed => worldOf(regular(5 * minuteMs), times => indoor(times, 0.1, seed)) },
  { name: 'indoors in steps of 0.5', made: seed => worldOf(regular(10 * minuteMs), times => indoor(times, 0.5, seed)) },
  ...[5, 60].flatMap(stepMinutes =>
    [8, 24].map(defrostHours => ({
      name: `in a freezer, every ${stepMinutes} min, with a defrost every ${defrostHours} h`,
      made: (seed: number) =>
        worldOf(regular(stepMinutes * minuteMs), times => freezer(times, 0.1, defrostHours * hourMs, seed)),
    })),
  ),
  ...[1, 10].map(stepMinutes => ({
    name: `in an office with custom gauges, every ${stepMinutes} min`,
    made: (seed: number) => worldOf(regular(stepMinutes * minuteMs), times => office(times, seed)),
  })),
  ...[1, 10].map(stepMinutes => ({
    name: `in a refrigerator with 40 doors a day, every ${stepMinutes} min`,
    made: (seed: number) => coldChain(stepMinutes, seed),
  })),
  ...[1, 10].flatMap(stepMinutes => [
    ...[-20, 3].map(level => ({
      name: `in a cold room at ${level} °C that is stocked twice a workday, every ${stepMinutes} min`,
      made: (seed: number) => worldOf(regular(stepMinutes * minuteMs), times => coldRoom(times, level, seed)),
    })),
    {
      name: `in an office whose window is opened each workday, every ${stepMinutes} min`,
      made: (seed: number) => worldOf(regular(stepMinutes * minuteMs), times => airedOffice(times, seed)),
    },
  ]),
  ...cellTypes.flatMap(type =>
    [type, null].map(known => ({
      name: `with a cell (${type}${known === null ? ', which is not known' : ''}) that lasts two years`,
      made: (seed: number) => ({
        ...worldOf(regular(10 * minuteMs), times => ({ battery_voltage: battery(times, type, 730, seed) })),
        device: { battery_type: known },
      }),
    })),
  ),
  {
    name: 'with a charge in steps of 1 % that lasts two years',
    made: seed => {
      const fullMs = startMs - (1 + (seed % 200)) * dayMs
      return worldOf(regular(10 * minuteMs), times => ({
        battery_percentage: times.map(timeMs => Math.round(100 * (1 - (timeMs - fullMs) / dayMs / 730))),
      }))
    },
  },
  {
    name: 'at 50 random times a day',
    made: seed => worldOf(evenPoissonTimes(startMs, days, 50, uniform(seed)), times => indoor(times, 0.1, seed)),
  },
]

export function coldChain(stepMinutes: number, seed: number): World {
  const device = { isColdChain: true }
  return { ...worldOf(regular(stepMinutes * minuteMs), times => refrigerator(times, seed)), device }
}

export function worldOf(timesMs: Float64Array, metrics: (timesMs: Float64Array) => World['metrics']): World {
  return { timesMs, metrics: metrics(timesMs) }
}

export function outdoors(seed: number): World {
  return worldOf(regular(5 * minuteMs), times => weather(times, 0.1, seed))
}
